import { readlinkSync } from 'node:fs'
import { readGuarded } from '../disk/index.js'
import { Worktree } from './in-the-way.js'
import type { EditedFile } from './index-edit.js'
import type { LooseObjects } from './loose-object.js'
import { exactStat } from './recent-files.js'
import { asBytes, shown } from './snapshot.js'

/** More than this is read faster by git. */
const MOST_FILES = 200
const MOST_BYTES = 8 * 1024 * 1024

/**
 * Writes the content of a few files into a store. The times of a file are those from before it was read, so that a change in between is found
 * by the next scan. Undefined when one cannot be read, is neither file nor link, is behind a link, or has a name that is no text: git says
 * what is to be done with it.
 */
export function filesToAdd(root: string, paths: readonly string[], objects: LooseObjects): EditedFile[] | undefined {
  if (paths.length > MOST_FILES) return undefined
  const found = paths.map((path) => ({ path, stat: exactStat(root, path) }))
  if (found.reduce((sum, { stat }) => sum + Number(stat?.size ?? 0), 0) > MOST_BYTES) return undefined
  if (found.some(({ stat }) => !stat)) return undefined
  const worktree = new Worktree(root)
  if (paths.some((path) => worktree.obstacleAbove(path) !== undefined)) return undefined
  const files: EditedFile[] = []
  for (const { path, stat } of found) {
    const name = shown(path)
    if (!stat || !asBytes(path).equals(Buffer.from(name))) return undefined
    const content = contentAt(`${root}/${name}`, stat.isSymbolicLink() ? 'link' : stat.isFile() ? 'file' : 'other')
    if (!content) return undefined
    files.push({ path, stat, oid: objects.blob(content) })
  }
  return files
}

function contentAt(path: string, kind: 'link' | 'file' | 'other'): Buffer | undefined {
  try {
    if (kind === 'link') return readlinkSync(path, { encoding: 'buffer' })
    return kind === 'file' ? readGuarded(path, { mostBytes: MOST_BYTES, noFollow: true }) : undefined
  } catch {
    return undefined
  }
}
