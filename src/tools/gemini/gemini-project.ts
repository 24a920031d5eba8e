import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { guardedText } from '../../disk/index.js'
import { objectAt } from '../json-value.js'
import { smallJson } from '../log/log-files.js'
import type { LogRef } from '../log/log-tool.js'

/** The project's folder: the one that holds `chats`. */
export function projectFolder(path: string): string {
  const at = path.lastIndexOf('/chats/')
  return at > 0 ? path.slice(0, at) : dirname(dirname(path))
}

/** A note is one path. */
const MOST_BYTES = 64 * 1024

/** A session does not say where it ran: its folder does, through a note in it or the list of projects. */
export function projectPath(log: LogRef): string | undefined {
  const folder = projectFolder(log.path)
  const note = join(folder, '.project_root')
  const noted = guardedText(note, MOST_BYTES)?.trim()
  if (noted) return noted
  const projects = Object.entries(objectAt(smallJson(join(log.root, 'projects.json')), 'projects') ?? {})
  const name = basename(folder)
  const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex')
  return projects.find(([path, slug]) => slug === name || hashOf(path) === name)?.[0]
}
