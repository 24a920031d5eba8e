import { linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, statOf, syncPath, temporaryName, writeAtomic } from '../../disk/index.js'
import { type Instant, SkeinError } from '../../model/index.js'
import type { LogRef, LogTool } from '../log/log-tool.js'
import { refuseMisread } from './read-back.js'
import type { Written } from './writer.js'

/**
 * Puts a written log into its place, for its owner alone, and after it was read back from the disk. Never over a file that is there:
 * refused then, with nothing changed.
 */
export function placeWritten(tool: LogTool, written: Written, now: Instant): void {
  const [log, ...others] = written.files
  if (!log) return
  if (statOf(log.path)) throw taken(log.path)
  placeNew(log, (path) => refuseMisread(tool, logRefOf(tool, path, written, now), written.session, written.turns))
  for (const file of others) placeNew(file, () => undefined, { mayBeThere: true })
}

const taken = (path: string): SkeinError =>
  new SkeinError('session-exists', `There is a log at ${path} already`, 'Resume that one, or fork it')

const logRefOf = (tool: LogTool, path: string, { session, files: [log] }: Written, now: Instant): LogRef => ({
  tool: tool.name,
  path,
  root: dirname(log?.path ?? path),
  session,
  size: Buffer.byteLength(log?.content ?? ''),
  modified_at: now,
  stamp: path,
})

function placeNew(
  { path, content }: Written['files'][number],
  check: (temporary: string) => void,
  { mayBeThere = false } = {},
): void {
  makeDirectory(dirname(path))
  const temporary = temporaryName(path)
  try {
    writeAtomic(temporary, content, { durable: true })
    check(temporary)
    moveTo(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!mayBeThere) throw taken(path)
  } finally {
    rmSync(temporary, { force: true })
  }
  syncPath(dirname(path))
}

/** A link fails where the name is taken, which a rename does not; some file systems have no links. */
function moveTo(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    if (statOf(path)) throw taken(path)
    renameSync(temporary, path)
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
