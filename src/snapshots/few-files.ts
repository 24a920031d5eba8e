import { closeSync, mkdirSync, openSync, rmdirSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError, writeFully } from '../disk/index.js'
import { HeldFiles } from './held-files.js'
import { Worktree } from './in-the-way.js'
import type { LooseObjects } from './loose-object.js'
import type { MovedFile, MovePlan } from './move-plan.js'
import { exactStat } from './recent-files.js'
import { asBytes, shown } from './snapshot.js'

/**
 * Writes and removes a few files as `git read-tree -u` would, without starting it: that reads and writes the whole index and costs more than
 * everything else. Before the first is written, each is read: it must be what the plan begins with. False, and nothing is done, when one is not,
 * or when something other than regular files changes: git says what is to be done then. Our index stays as it is: the next scan finds what has
 * changed, and whoever waits for a rewind need not wait for that.
 */
export function changeFew(root: string, { files, contents }: MovePlan, objects: LooseObjects): boolean {
  const worktree = new Worktree(root)
  using held = new HeldFiles()
  const isReady = (file: MovedFile): boolean =>
    isPlain(file) &&
    (file.after === undefined || contents?.has(file.after.oid) === true) &&
    worktree.obstacleAbove(file.path) === undefined &&
    isStill(root, file, held, objects)
  if (!files.every(isReady)) return false
  const remove = (path: string): void => {
    unlinkSync(pathOf(root, path))
    held.letGo(pathOf(root, path))
  }
  const removed = files.filter(({ after }) => !after).map(({ path }) => path)
  for (const path of removed) explained(root, path, () => remove(path))
  for (const path of removed) removeEmptied(root, dirname(path))
  for (const { path, before, after } of files) {
    const content = after && contents?.get(after.oid)
    if (!content) continue
    const file = { place: pathOf(root, path), isExecutable: after.mode === '100755', content }
    explained(root, path, () => {
      if (before) remove(path)
      else mkdirSync(dirname(file.place), { recursive: true })
      write(file)
    })
  }
  return true
}

/** Regular files on both sides, by a name that is text and that git would write, too. */
function isPlain({ path, before, after }: MovedFile): boolean {
  const isRegular = [before, after].every((side) => side === undefined || /^100(644|755)$/.test(side.mode))
  return isRegular && asBytes(path).equals(Buffer.from(shown(path))) && !path.split('/').some(isRefused)
}

/** A tree that came from elsewhere may have any name. Git refuses those that lead out of the worktree or into a repository. */
const isRefused = (name: string): boolean =>
  /^\.{0,2}$/.test(name) || /^(\.git|git~\d)(?![a-z_-])/i.test(name.replace(/[^\x21-\x7e]/g, ''))

/** The content decides: times may not show an edit of the last moment. */
function isStill(root: string, { path, before }: MovedFile, held: HeldFiles, objects: LooseObjects): boolean {
  const stat = exactStat(root, path)
  if (!before || !stat) return !before && !stat
  const isExecutable = (stat.mode & 0o100n) !== 0n
  if (!stat.isFile() || isExecutable !== (before.mode === '100755')) return false
  try {
    return objects.oidOf('blob', held.read(pathOf(root, path))) === before.oid
  } catch {
    return false
  }
}

interface NewFile {
  place: string
  isExecutable: boolean
  content: Buffer
}

/** A new file, also in the place of an old one: what other names the old one has, and whoever has it open, keep it. */
function write({ place, isExecutable, content }: NewFile): void {
  const file = openSync(place, 'wx', isExecutable ? 0o777 : 0o666)
  try {
    writeFully(file, content)
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
