import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { refuseForeign } from './plain-file.js'

export type SqlValue = string | number | bigint | null | Uint8Array

export interface Statement {
  run(...params: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...params: SqlValue[]): unknown
  all(...params: SqlValue[]): unknown[]
  iterate(...params: SqlValue[]): IterableIterator<unknown>
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

type Open = new (path: string, options?: { readOnly?: boolean }) => Database
let loaded: Open | undefined

/**
 * The one place that knows which SQLite runs: Node's own where it exists, else the package with the same interface.
 * Loaded on first use, because it is a third of a small command's start-up.
 */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  loaded ??= builtIn() ?? (createRequire(import.meta.url)('@photostructure/sqlite').DatabaseSync as Open)
  return new loaded(path, options)
}

/**
 * A database that has a log beside it, opened by somebody who may not write there. Its shared memory needs a place in the directory;
 * where there is none, the file is read as it is, without what the log still holds.
 */
export function openToRead(path: string): Database {
  refuseForeign(path)
  const database = openDatabase(path, { readOnly: true })
  try {
    database.exec('pragma busy_timeout = 2000; select 1 from sqlite_master')
    return database
  } catch (error) {
    database.close()
    if (sqliteCode(error) !== SQLITE.cannotOpen && sqliteCode(error) !== SQLITE.readOnly) throw error
    return openDatabase(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true })
  }
}

/** The file is not what SQLite wrote. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE.corrupt || code === SQLITE.notADatabase
}

/** Node prints an "experimental" warning on first load; users of a command line tool must not see it. */
function builtIn(): Open | undefined {
  const emitWarning = process.emitWarning
  process.emitWarning = () => {}
  try {
    const sqlite = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync?: Open } | undefined
    return sqlite?.DatabaseSync
  } finally {
    process.emitWarning = emitWarning
  }
}

/** SQLite's primary result code of an error, or undefined when it is no SQLite error. */
export function sqliteCode(error: unknown): number | undefined {
  const { errcode, code, message } = (error ?? {}) as { errcode?: unknown; code?: unknown; message?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  // Some calls of the package tell the words only.
  return code === 'ERR_SQLITE_ERROR' ? MESSAGES.find(([words]) => String(message).includes(words))?.[1] : undefined
}

const MESSAGES: readonly (readonly [string, number])[] = [
  ['database is locked', 5],
  ['attempt to write a readonly database', 8],
  ['disk I/O error', 10],
  ['disk image is malformed', 11],
  ['database or disk is full', 13],
  ['unable to open database file', 14],
  ['file is not a database', 26],
]

export const SQLITE = {
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const
