import { dirname } from 'node:path'
import { statOf } from '../../disk/index.js'
import type { Instant } from '../../model/index.js'
import type { LogRef, LogTool } from '../log/log-tool.js'
import { placeNew } from '../log/place-new.js'
import { refuseMisread } from './read-back.js'
import type { Written } from './writer.js'

/** Puts a written log into its place, after it was read back from the disk. Never over a log that is there. */
export function placeWritten(tool: LogTool, written: Written, now: Instant): void {
  const [log, ...others] = written.files
  if (!log) return
  placeNew(log.path, log.content, (path) =>
    refuseMisread(tool, logRefOf(tool, path, written, now), written.session, written.turns),
  )
  for (const { path, content } of others) if (!statOf(path)) placeNew(path, content)
}

const logRefOf = (tool: LogTool, path: string, { session, files: [log] }: Written, now: Instant): LogRef => ({
  tool: tool.name,
  path,
  root: dirname(log?.path ?? path),
  session,
  size: Buffer.byteLength(log?.content ?? ''),
  modified_at: now,
  stamp: path,
})
