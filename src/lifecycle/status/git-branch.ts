import { dirname, join, resolve } from 'node:path'
import { guardedText, statOf } from '../../disk/index.js'

/** A `HEAD` or a worktree's `.git` is one line with one path. */
const MOST_BYTES = 16 * 1024

/** The branch that is checked out in a directory, or the beginning of the commit. Reads two small files and starts nothing. */
export function gitBranch(directory: string): string | undefined {
  const git = gitDirectory(directory)
  const head = git === undefined ? undefined : guardedText(join(git, 'HEAD'), MOST_BYTES)
  if (head === undefined) return undefined
  return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? /^[0-9a-f]{7}/.exec(head)?.[0]
}

function gitDirectory(directory: string): string | undefined {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const path = join(at, '.git')
    const stat = statOf(path)
    if (stat?.isDirectory()) return path
    // In a worktree it is a file that says where the directory lies.
    const elsewhere = stat?.isFile() ? /^gitdir: (.+)$/m.exec(guardedText(path, MOST_BYTES) ?? '')?.[1] : undefined
    if (elsewhere) return resolve(at, elsewhere)
    if (dirname(at) === at) return undefined
  }
}
