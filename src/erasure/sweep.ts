import { existsSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import {
  FileLock,
  openDatabase,
  readGuarded,
  SQLITE,
  Statements,
  sqliteCode,
  UnsuitableFile,
  writeAtomic,
} from '../disk/index.js'
import type { Forgetter } from '../privacy/index.js'
import { forgetInDatabase, scrubDatabase } from './database-text.js'
import { forgetInFile } from './file-text.js'

/** Where something was found, and how often. Never what. */
export interface PurgedPlace {
  /** Relative to the home. */
  file: string
  count: number
}

/** Copies that were put aside because they could not be used, and what a killed process left: nothing depends on them. */
const PUT_ASIDE = /\.(?:set-aside|damaged)-|\.corrupt|\.tmp-\d+$|\.next-\d+$|\.new-\d+-\d+/

/** An edit takes milliseconds. */
const EDIT_WAIT_MS = 30_000

interface SweepSetup extends Pick<Sweep, 'forgetter' | 'sessions' | 'dryRun' | 'generation'> {
  root: string
}

/** One way through the files of a home, taking out what must go, or only counting it. */
export class Sweep {
  readonly #places = new Map<string, number>()
  readonly #root: string
  readonly forgetter: Forgetter
  /** Sessions of which nothing may stay. */
  readonly sessions: ReadonlySet<string>
  /** Only say what would go. */
  readonly dryRun: boolean
  /** Counts purges: a store that has seen this one refuses what was read before it began. */
  readonly generation: number

  constructor({ root, forgetter, sessions, dryRun, generation }: SweepSetup) {
    this.#root = root
    this.forgetter = forgetter
    this.sessions = sessions
    this.dryRun = dryRun
    this.generation = generation
  }

  get places(): PurgedPlace[] {
    return [...this.#places].map(([file, count]) => ({ file, count })).sort((a, b) => (a.file < b.file ? -1 : 1))
  }

  found(path: string, count: number): void {
    if (count === 0) return
    const file = relative(this.#root, path)
    this.#places.set(file, (this.#places.get(file) ?? 0) + count)
  }

  /** Whether a record is of a session of which nothing may stay. */
  isOfSession(record: unknown, name: 'session' | 'id' = 'session'): boolean {
    if (this.sessions.size === 0 || typeof record !== 'object' || record === null) return false
    const session = (record as Record<string, unknown>)[name]
    return typeof session === 'string' && this.sessions.has(session)
  }

  /** A file of plain text, JSON, gzip or a database. `isKey`: see `forgetInDatabase`. */
  file(path: string, isKey?: (table: string, column: string) => boolean): void {
    const bytes = bytesOf(path)
    if (bytes === undefined) return
    if (isDatabase(bytes)) this.#database(path, isKey)
    else if (isPacked(bytes)) this.#packed(path, bytes)
    else {
      const { value, count } = forgetInFile(bytes.toString(), this.forgetter)
      this.#replace(path, count, () => value)
    }
  }

  /** The same for a file of text that others change under a lock, which is taken only when there is something to remove. */
  async lockedFile(path: string, lock: () => Promise<Disposable>): Promise<void> {
    if (this.dryRun) return this.file(path)
    const text = bytesOf(path)?.toString()
    if (text === undefined || forgetInFile(text, this.forgetter).count === 0) return
    using _held = await lock()
    this.file(path)
  }

  /** The same for a file that may be changed with `editFile`, which keeps its lock beside it. */
  async editedFile(path: string): Promise<void> {
    const lock = `${path}.lock`
    if (existsSync(lock)) await this.lockedFile(path, () => new FileLock(lock).hold(EDIT_WAIT_MS))
    else this.file(path)
  }

  #packed(path: string, bytes: Buffer): void {
    const content = unpacked(bytes)
    if (content === undefined) return // the proof says that it could not be looked into
    const { value, count } = forgetInFile(content.toString(), this.forgetter)
    this.#replace(path, count, () => gzipSync(value))
  }

  #replace(path: string, count: number, content: () => string | Uint8Array): void {
    this.found(path, count)
    if (count === 0 || this.dryRun) return
    if (PUT_ASIDE.test(path)) rmSync(path)
    else writeAtomic(path, content(), { durable: true })
  }

  /** One that is damaged is left to the proof, which says that it could not be looked into. */
  #database(path: string, isKey?: (table: string, column: string) => boolean): void {
    try {
      const database = openDatabase(path)
      try {
        database.exec('pragma busy_timeout = 30000; pragma secure_delete = on')
        const erasure = { dryRun: this.dryRun, ...(isKey ? { isKey } : {}) }
        const erase = (): void => this.found(path, forgetInDatabase(database, this.forgetter, erasure))
        if (this.dryRun) erase()
        else {
          new Statements(database).inTransaction(erase)
          scrubDatabase(database)
        }
      } finally {
        database.close()
      }
    } catch (error) {
      const code = sqliteCode(error)
      if (code !== SQLITE.corrupt && code !== SQLITE.notADatabase) throw error
    }
  }
}

export const isDatabase = (bytes: Buffer): boolean => bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3'
export const isPacked = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Undefined when it is damaged. */
export function unpacked(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes)
  } catch {
    return undefined
  }
}

/** Undefined for what comes and goes beside us, such as a message in the spool, and for what the proof will name as unreadable. */
function bytesOf(path: string): Buffer | undefined {
  try {
    return readGuarded(path, { mostBytes: 2 ** 31 - 1 })
  } catch (error) {
    const isLeft =
      error instanceof UnsuitableFile || ['ENOENT', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))
    if (isLeft) return undefined
    throw error
  }
}
