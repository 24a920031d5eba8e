import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { guardedText } from '../../disk/index.js'
import { objectAt, textAt } from '../json-value.js'
import { listDirectory, smallJson } from '../log/log-files.js'
import type { LogRef, ReadOptions } from '../log/log-tool.js'

/** The project's folder: the one that holds `chats`. */
export function projectFolder(path: string): string {
  const at = path.lastIndexOf('/chats/')
  return at > 0 ? path.slice(0, at) : dirname(dirname(path))
}

/** A note is one path. */
const MOST_BYTES = 64 * 1024

/** Before folders had names, each was named after the SHA-256 of the project's path. */
export function projectHash(path: string): string | undefined {
  const name = basename(projectFolder(path))
  return /^[0-9a-f]{64}$/.test(name) ? name : undefined
}

/** A session does not say where it ran: its folder does, through a note in it, the list of projects, or the hash that is its name. */
export function projectPath(log: LogRef, { directoryOf }: Pick<ReadOptions, 'directoryOf'>): string | undefined {
  const folder = projectFolder(log.path)
  const note = join(folder, '.project_root')
  const noted = guardedText(note, MOST_BYTES)?.trim()
  if (noted) return noted
  const projects = Object.entries(objectAt(smallJson(join(log.root, 'projects.json')), 'projects') ?? {})
  const name = basename(folder)
  const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex')
  const listed = projects.find(([path, slug]) => slug === name || hashOf(path) === name)?.[0]
  const hash = projectHash(log.path)
  return listed ?? (hash && directoryOf?.(hash))
}

/**
 * The folder for the logs of a directory: the one that the program has for it, or a new one with a note whose it is, by which the program
 * finds it.
 */
export function newProjectFolder(root: string, cwd: string): string {
  const tmp = join(root, 'tmp')
  const listed = textAt(objectAt(smallJson(join(root, 'projects.json')), 'projects'), cwd)
  if (listed !== undefined && !listed.includes('/')) return join(tmp, listed)
  const known = listDirectory(tmp).filter(({ isDirectory }) => isDirectory)
  const noted = known.find(({ path }) => guardedText(join(path, '.project_root'), MOST_BYTES)?.trim() === cwd)
  if (noted) return noted.path
  const taken = new Set(known.map(({ name }) => name))
  const name =
    basename(cwd)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'project'
  for (let n = 0; ; n += 1) {
    const slug = n === 0 ? name : `${name}-${n}`
    if (!taken.has(slug)) return join(tmp, slug)
  }
}
