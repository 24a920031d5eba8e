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
let own: Open | undefined
let packaged: Open | undefined

/**
 * The one place that knows which SQLite runs: Node's own where it exists, else the package with the same interface.
 * Loaded on first use, because it is a third of a small command's start-up.
 */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  own ??= builtIn()
  if (own) return new own(path, options)
  packaged ??= createRequire(import.meta.url)('@photostructure/sqlite').DatabaseSync as Open
  return collected(new packaged(path, options))
}

/** So many closed databases may have files open that wait for their statements to be collected. */
const MOST_UNCOLLECTED = 16
let uncollected = 0

function collected(database: Database): Database {
  let hasStatements = false
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      hasStatements = true
      return database.prepare(sql)
    },
    close() {
      database.close()
      if (hasStatements) uncollected += 1
    },
  }
}

/**
 * The package ends its statements when they are collected as garbage, and a closed database keeps its files open until all of its
 * statements have ended. Who opens and closes homes all day would run out of descriptors long before out of memory. In turns of their
 * own: what was used in this one is not collected, and statements end in the next.
 */
export async function releaseFiles(): Promise<void> {
  if (uncollected < MOST_UNCOLLECTED) return
  uncollected = 0
  await nextTurn()
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  process.getBuiltinModule('node:vm').runInNewContext('gc')()
  await nextTurn()
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

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
