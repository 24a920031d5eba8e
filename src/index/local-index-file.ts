import { isDamage, SQLITE, sqliteCode } from '../disk/index.js'
import type { LocalIndex } from './local-index.js'
import { SqliteIndex } from './sqlite-index.js'

/** Opens an index file, or returns undefined when it is of another version (or empty) and must be rebuilt. */
export function openLocalIndex(path: string, options?: { readOnly: boolean }): LocalIndex | undefined {
  return SqliteIndex.open(path, options)
}

/** A new index, filled by `load`; in memory when there is no path. Should it be interrupted, the file is thrown away. The caller closes it. */
export function buildLocalIndex(path: string | undefined, load: (index: LocalIndex) => void): LocalIndex {
  return SqliteIndex.build(path ?? ':memory:', load)
}

/** Whether a file that cannot be opened is damaged, or unreadable to us: all the same to a file that can be made again. */
export function isUnusableIndex(error: unknown): boolean {
  const code = sqliteCode(error)
  return isDamage(error) || code === SQLITE.cannotOpen || code === SQLITE.ioError
}

/** Whether the database, and not we, caused an error. */
export const isIndexError = (error: unknown): boolean => isDamage(error) || sqliteCode(error) !== undefined
