import { closeSync, lstatSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { SkeinError } from '../model/index.js'
import { SQLITE, sqliteCode } from './sqlite.js'
import { UnsuitableFile } from './unsuitable-file.js'

/** Turns what the operating system or SQLite said into one line a user can act on; anything else comes back as it was. */
export function explainDiskError(error: unknown, path: string, whenDamaged?: string): unknown {
  if (error instanceof SkeinError) return error
  if (error instanceof UnsuitableFile)
    return new SkeinError('home-unreadable', error.message, error.next, { cause: error })
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const sqlite = sqliteCode(error)
  const cause = { cause: error }
  const short = shortage(error, path)
  if (short) return short
  if (whenDamaged && (sqlite === SQLITE.corrupt || sqlite === SQLITE.notADatabase)) {
    return new SkeinError('store-damaged', `${path} is damaged`, whenDamaged, cause)
  }
  if (code === 'EROFS' || sqlite === SQLITE.readOnly) {
    const next = 'Make it writable, or set SKEIN_HOME to a directory that is'
    return new SkeinError('home-read-only', `${path} is read-only`, next, cause)
  }
  if (code === 'EACCES' || code === 'EPERM') {
    const next = 'Check its owner and mode (ls -ld), or set SKEIN_HOME to a directory of your own'
    return new SkeinError('home-unreadable', `No permission to use ${path}`, next, cause)
  }
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'ERR_FS_EISDIR' || code === 'EEXIST' || code === 'ELOOP') {
    const next = 'Move what is in the way, or set SKEIN_HOME to another directory'
    // The system often knows better than whoever opened something what was in the way; below what is none it names what cannot be.
    const { path: opened, dest = opened } = error as NodeJS.ErrnoException & { dest?: string }
    const place = dest !== undefined && isThere(dest) ? dest : path
    return new SkeinError('home-unreadable', `${place} is not what Skein expects there (${code})`, next, cause)
  }
  if (code === 'ENAMETOOLONG') {
    const next = 'Set SKEIN_HOME to a shorter path'
    return new SkeinError(
      'home-unreadable',
      `A path of ${path.length} characters is too long for this system: ${path.slice(0, 40)}...`,
      next,
      cause,
    )
  }
  if (code === 'ENOENT') {
    const next = 'Set SKEIN_HOME to a directory that you can create'
    return new SkeinError('home-unreadable', `${path} does not exist and cannot be created`, next, cause)
  }
  return error
}

/** What the system has run out of, whoever asked for it; undefined when an error is about anything else. */
export function shortage(error: unknown, path: string): SkeinError | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const sqlite = sqliteCode(error)
  const cause = { cause: error }
  if (code === 'ENOSPC' || code === 'EDQUOT' || sqlite === SQLITE.full) {
    const [what, next] = areFilesUsedUp(path)
      ? ['No more files can be created', 'Delete files that nobody needs (df -i shows how many there may be)']
      : ['No space left', 'Free some space and try again']
    return new SkeinError('disk-full', `${what} on the disk that holds ${path}`, next, cause)
  }
  if (code === 'EMFILE' || code === 'ENFILE' || (sqlite === SQLITE.cannotOpen && areDescriptorsUsedUp())) {
    const whose = code === 'ENFILE' ? 'The system' : 'This process'
    const next = 'Raise the limit (ulimit -n), or end the program that keeps so many files open'
    return new SkeinError('home-busy', `${whose} has too many open files`, next, cause)
  }
  if (sqlite !== SQLITE.cannotOpen) return undefined
  // Of a log that it cannot make, and of a file that may not be opened, SQLite says the same.
  if (areFilesUsedUp(path)) {
    const next = 'Delete files that nobody needs (df -i shows how many there may be)'
    return new SkeinError('disk-full', `No more files can be created on the disk that holds ${path}`, next, cause)
  }
  const next = 'Check how many files may be open (ulimit -n) and who may use it (ls -l)'
  return new SkeinError('home-unreadable', `A database in ${path} cannot be opened`, next, cause)
}

/** Whether a disk with room left has none for another file. Some file systems count none, and say 0 of 0. */
function areFilesUsedUp(path: string): boolean {
  try {
    const { bavail, files, ffree } = statfsSync(nearestThere(path))
    return bavail > 0 && files > 0 && ffree === 0
  } catch {
    return false
  }
}

const nearestThere = (path: string): string =>
  isThere(path) || dirname(path) === path ? path : nearestThere(dirname(path))

function areDescriptorsUsedUp(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    return ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** Be it a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
