import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { SkeinError } from '../model/index.js'
import type { MovedFile } from './move-plan.js'
import { asBytes, shown } from './snapshot.js'

const MOST_NAMED = 5

/**
 * Refuses to go from one tree to another where a file that neither the tree nor a snapshot has would be replaced: one that is ignored, or
 * was too large to be captured, in the place of a file or a directory that is to be written. Git takes what is ignored for expendable.
 */
export function refuseInTheWay(root: string, files: readonly MovedFile[]): void {
  const added = files.filter(({ before }) => !before).map(({ path }) => path)
  const removed = new Set(files.filter(({ after }) => !after).map(({ path }) => path))
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
export class Worktree {
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
