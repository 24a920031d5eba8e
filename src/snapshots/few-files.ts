import { type BigIntStats, closeSync, fstatSync, mkdirSync, openSync, rmdirSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError, readGuarded, writeFully } from '../disk/index.js'
import { Worktree } from './in-the-way.js'
import type { EditedFile, IndexEdit } from './index-edit.js'
import type { LooseObjects } from './loose-object.js'
import type { MovedFile, MovePlan } from './move-plan.js'
import { exactStat } from './recent-files.js'
import { asBytes, shown } from './snapshot.js'

const MOST_BYTES = 64 * 1024 * 1024

/**
 * Writes and removes a few files as `git read-tree -u` would, without starting it: that reads and writes the whole index and costs more than
 * everything else. Before the first is written, each is read: it must be what the plan begins with. Undefined, and nothing is done, when one
 * is not, or when something other than regular files changes: git says what is to be done then. Returns what the index becomes.
 */
export function changeFew(root: string, { files, contents }: MovePlan, objects: LooseObjects): IndexEdit | undefined {
  const worktree = new Worktree(root)
  const isReady = (file: MovedFile): boolean =>
    isPlain(file) &&
    (file.after === undefined || contents?.has(file.after.oid) === true) &&
    worktree.obstacleAbove(file.path) === undefined &&
    isStill(root, file, objects)
  if (!files.every(isReady)) return undefined
  const removed = files.filter(({ after }) => !after).map(({ path }) => path)
  for (const { path, before } of files) if (before) explained(root, path, () => unlinkSync(pathOf(root, path)))
  for (const path of removed) removeEmptied(root, dirname(path))
  const set = files.flatMap(({ path, after }): EditedFile[] => {
    const content = after && contents?.get(after.oid)
    if (!content) return []
    return [{ path, oid: after.oid, stat: explained(root, path, () => write(root, path, after.mode, content)) }]
  })
  return { set, removed }
}

/** Regular files on both sides, by a name that is text. */
function isPlain({ path, before, after }: MovedFile): boolean {
  const isRegular = [before, after].every((side) => side === undefined || /^100(644|755)$/.test(side.mode))
  return isRegular && asBytes(path).equals(Buffer.from(shown(path)))
}

/** The content decides: times may not show an edit of the last moment. */
function isStill(root: string, { path, before }: MovedFile, objects: LooseObjects): boolean {
  const stat = exactStat(root, path)
  if (!before || !stat) return !before && !stat
  const isExecutable = (stat.mode & 0o100n) !== 0n
  if (!stat.isFile() || isExecutable !== (before.mode === '100755')) return false
  try {
    const content = readGuarded(pathOf(root, path), { mostBytes: MOST_BYTES, noFollow: true })
    return objects.oidOf('blob', content) === before.oid
  } catch {
    return false
  }
}

/** A new file, also in the place of an old one: what other names the old one has, and whoever has it open, keep it. */
function write(root: string, path: string, mode: string, content: Buffer): BigIntStats {
  const place = pathOf(root, path)
  mkdirSync(dirname(place), { recursive: true })
  const file = openSync(place, 'wx', mode === '100755' ? 0o777 : 0o666)
  try {
    writeFully(file, content)
    return fstatSync(file, { bigint: true })
  } finally {
    closeSync(file)
  }
}

function removeEmptied(root: string, directory: string): void {
  for (let path = directory; path !== '.'; path = dirname(path)) {
    try {
      rmdirSync(pathOf(root, path))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') continue // removed with the file before
      return // something else is in it, or it may not be removed: git leaves it, too
    }
  }
}

function explained<T>(root: string, path: string, change: () => T): T {
  try {
    return change()
  } catch (error) {
    throw explainDiskError(error, pathOf(root, path))
  }
}

const pathOf = (root: string, path: string): string => `${root}/${shown(path)}`
