import { lstatSync } from 'node:fs'
import { SkeinError } from '../model/index.js'
import { UnsuitableFile } from './guarded-file.js'
import { SQLITE, sqliteCode } from './sqlite.js'

/** Turns what the operating system or SQLite said into one line a user can act on; anything else comes back as it was. */
export function explainDiskError(error: unknown, path: string, whenDamaged?: string): unknown {
  if (error instanceof SkeinError) return error
  if (error instanceof UnsuitableFile)
    return new SkeinError('home-unreadable', error.message, 'Move it away, then try again', { cause: error })
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const sqlite = sqliteCode(error)
  const cause = { cause: error }
  if (code === 'ENOSPC' || code === 'EDQUOT' || sqlite === SQLITE.full) {
    return new SkeinError(
      'disk-full',
      `No space left on the disk that holds ${path}`,
      'Free some space and try again',
      cause,
    )
  }
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
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'EEXIST' || code === 'ELOOP') {
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
    const next = 'Set SKEIN_HOME to a place where directories can be made'
    return new SkeinError('home-unreadable', `${path} is not there and cannot be made`, next, cause)
  }
  return error
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
