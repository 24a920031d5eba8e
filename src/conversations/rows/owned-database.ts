import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type Database, explainDiskError, makeDirectory, openDatabase, SQLITE, sqliteCode } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { damaged } from './damaged-store.js'

/** What makes a database ours: SQLite keeps the first two in the file's header. */
export interface DatabaseLayout {
  application: number
  version: number
  schema: string
}

/**
 * Opens a database of ours, making it when there is none.
 * A new one is built under another name and linked into place whole, so an empty file here is never a beginning: it is
 * what an accident left, and is refused like any other damage.
 */
export function openOwnedDatabase(path: string, layout: DatabaseLayout): Database {
  try {
    makeDirectory(dirname(path))
    if (!existsSync(path)) create(path, layout)
    if (statSync(path).size === 0) throw damaged(path, 'the file is empty')
    const database = openDatabase(path)
    try {
      check(database, path, layout)
      // A commit survives kill -9 of any process. A power cut may take the last few, never the store.
      database.exec('pragma busy_timeout = 0; pragma synchronous = normal; pragma journal_size_limit = 4194304')
      // 16 MB at most: with SQLite's 2 MB a change among 100,000 entries took 1.4 times as long as among 1,000; now 1.2 to 1.3.
      database.exec('pragma cache_size = -16384')
    } catch (error) {
      database.close()
      throw error
    }
    return database
  } catch (error) {
    throw explainDatabaseError(error, path)
  }
}

function create(path: string, { application, version, schema }: DatabaseLayout): void {
  const draft = `${path}.new-${process.pid}-${threadId}`
  rmSync(draft, { force: true })
  closeSync(openSync(draft, 'wx', 0o600)) // SQLite keeps the mode, and gives it to its side files
  try {
    const database = openDatabase(draft)
    try {
      database.exec(
        `pragma journal_mode = wal; pragma application_id = ${application}; pragma user_version = ${version}`,
      )
      database.exec(schema)
    } finally {
      database.close()
    }
    chmodSync(draft, 0o600)
    place(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // another process was first: use its file
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${suffix}`, { force: true })
  }
}

/** Never over a file that is there. Some file systems have no hard links: there a copy has to do. */
function place(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

function check(database: Database, path: string, layout: DatabaseLayout): void {
  database.exec('pragma busy_timeout = 5000')
  const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() as object)[0] as number
  const version = pragma('user_version')
  if (pragma('application_id') !== layout.application) throw damaged(path, 'it is the database of another program')
  if (version > layout.version) {
    throw new SkeinError(
      'newer-format',
      `${path} was written by a newer Skein (version ${version}; this one supports ${layout.version})`,
      'Install the newer Skein; this one does not change the file',
    )
  }
}

/** SQLite's words for damage become ours; everything about disks is explained where all disk errors are. */
export function explainDatabaseError(error: unknown, path: string): unknown {
  const code = sqliteCode(error)
  if (code === SQLITE.corrupt || code === SQLITE.notADatabase) {
    return damaged(path, (error as Error).message, error)
  }
  return explainDiskError(error, path)
}
