import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The branch that is checked out in a directory, or the beginning of the commit. Reads two small files and starts nothing. */
export function gitBranch(directory: string): string | undefined {
  const head = textOf(join(gitDirectory(directory) ?? '', 'HEAD'))
  if (head === undefined) return undefined
  return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? /^[0-9a-f]{7}/.exec(head)?.[0]
}

function gitDirectory(directory: string): string | undefined {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const path = join(at, '.git')
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return path
    // In a worktree it is a file that says where the directory lies.
    const elsewhere = stat?.isFile() ? /^gitdir: (.+)$/m.exec(textOf(path) ?? '')?.[1] : undefined
    if (elsewhere) return resolve(at, elsewhere)
    if (dirname(at) === at) return undefined
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
