import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { SkeinError } from '../model/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { asBytes, shown } from './snapshot.js'

const MOST_NAMED = 5

/**
 * Refuses to go from one tree to another where a file that neither the tree nor a snapshot has would be replaced: one that is ignored, or
 * was too large to be captured, in the place of a file or a directory that is to be written. Git takes what is ignored for expendable.
 */
export async function refuseInTheWay(
  git: Git,
  store: BareStore,
  root: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-status', '--diff-filter=AD', from, to]
  const fields = await git.fields([...store.at(), ...args])
  const [added, removed] = [new Set<string>(), new Set<string>()]
  for (let at = 0; at + 1 < fields.length; at += 2) (fields[at] === 'A' ? added : removed).add(fields[at + 1] ?? '')
  const worktree = new Worktree(root)
  const lost = new Set<string>()
  for (const path of added) {
    const parent = worktree.obstacleAbove(path)
    if (parent !== undefined) {
      if (!removed.has(parent)) lost.add(parent)
      continue
    }
    for (const file of worktree.filesAt(path)) if (!removed.has(file)) lost.add(file)
  }
  if (lost.size === 0) return
  const named = [...lost].slice(0, MOST_NAMED).map(shown)
  throw new SkeinError(
    'snapshot-refused',
    `${lost.size === 1 ? 'A file is' : `${lost.size} files are`} in the way that no snapshot has: nothing was changed`,
    'Move what is in the way, or restore the snapshot into a new directory',
    { details: named },
  )
}

/** A worktree as it is on the disk. Paths are latin1, as git's are bytes. */
class Worktree {
  readonly #directories = new Map<string, boolean>()

  constructor(private readonly root: string) {}

  /** What stands where a directory above the path would have to be. */
  obstacleAbove(path: string): string | undefined {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at)
      const isDirectory = this.#directories.get(above) ?? this.#isDirectoryOrNothing(above)
      this.#directories.set(above, isDirectory)
      if (!isDirectory) return above
    }
    return undefined
  }

  /** The file at a path, or all files below it. */
  *filesAt(path: string): Generator<string> {
    const stat = this.#stat(path)
    if (!stat) return
    if (!stat.isDirectory()) {
      yield path
      return
    }
    for (const name of readdirSync(this.#bytes(path), { encoding: 'latin1' })) yield* this.filesAt(`${path}/${name}`)
  }

  #isDirectoryOrNothing(path: string): boolean {
    return this.#stat(path)?.isDirectory() ?? true
  }

  #stat(path: string): Stats | undefined {
    return lstatSync(this.#bytes(path), { throwIfNoEntry: false })
  }

  #bytes(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.root}/`), asBytes(path)])
  }
}
