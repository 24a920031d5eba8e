import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError, makeDirectory, statOf, syncPath, temporaryName, writeFully } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'

/**
 * Makes a log for its user alone, under its own name only once it is whole, checked and on the disk. Refuses a name that is taken, with
 * nothing changed.
 */
export function placeNew(path: string, content: string, check: (written: string) => void = () => {}): void {
  // A reader knows some logs by the end of their name.
  const temporary = `${temporaryName(path)}${path.endsWith('.json') ? '.json' : ''}`
  if (statOf(path)) throw taken(path)
  try {
    makeDirectory(dirname(path))
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeFully(file, Buffer.from(content))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    check(temporary)
    moveTo(temporary, path)
    syncPath(dirname(path))
  } catch (error) {
    throw explainDiskError(error, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** A link fails where the name is taken, which a rename does not; some file systems have no links. */
function moveTo(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || (NO_LINKS.has(code) && statOf(path))) throw taken(path)
    if (!NO_LINKS.has(code)) throw error
    renameSync(temporary, path)
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

const taken = (path: string): SkeinError =>
  new SkeinError('session-exists', `There is a log at ${path} already`, 'Resume that one, or fork it')
