import { closeSync, readSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { openPlain, refuseForeign, statIfThere } from './plain-file.js'
import { type Database, openDatabase } from './sqlite.js'

/** In the header of a database that keeps a write-ahead log. */
const WAL = 2

/**
 * A database of another program, opened so that nothing of it is written: not the file, not its log, not its shared memory, which SQLite
 * changes and even makes when it only reads. Whoever watches these files is not woken by it.
 */
export class ForeignDatabase implements Disposable {
  readonly database: Database
  /** How the files looked, where no lock keeps them as they are. */
  readonly #before: string | undefined

  constructor(private readonly path: string) {
    refuseForeign(path)
    const hasLog = (statIfThere(`${path}-wal`)?.size ?? 0) > 0
    const hasMemory = statIfThere(`${path}-shm`) !== undefined
    if (!keepsLog(path)) this.database = openDatabase(path, { readOnly: true })
    else if (hasMemory && statIfThere(`${path}-wal`))
      this.database = openDatabase(urlOf(path, 'readonly_shm=1'), { readOnly: true })
    else if (!hasLog) {
      // Nobody has it open, and all of it is in the file.
      this.#before = this.#look()
      this.database = openDatabase(urlOf(path, 'immutable=1'), { readOnly: true })
    } else
      throw Object.assign(new Error(`${path} has a log and no shared memory`), {
        code: 'only its own program can read its log',
      })
  }

  /** Throws when it was written to in a way that this reader could not be kept from seeing a part of. */
  assertSame(): void {
    if (this.#before === undefined || this.#before === this.#look()) return
    throw Object.assign(new Error(`${this.path} changed while it was read`), { code: CHANGED })
  }

  #look(): string {
    return databaseStamp(this.path)
  }

  [Symbol.dispose](): void {
    this.database.close()
  }
}

export const CHANGED = 'changed while it was read'

/** Differs whenever something was written to a database. Its shared memory says only who reads it. */
export function databaseStamp(path: string): string {
  return ['', '-wal', '-journal']
    .map((side) => {
      const stat = statIfThere(path + side)
      return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : '-'
    })
    .join(' ')
}

const urlOf = (path: string, how: string): string => `${pathToFileURL(path).href}?mode=ro&${how}`

function keepsLog(path: string): boolean {
  const file = openPlain(path)
  if (file === undefined) return false
  try {
    const header = Buffer.alloc(20)
    return readSync(file, header, 0, 20, 0) === 20 && header[18] === WAL
  } finally {
    closeSync(file)
  }
}
