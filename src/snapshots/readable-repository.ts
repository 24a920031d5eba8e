import { readdirSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { guardedText, statOf } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { findRepository, type Repository } from './repository.js'

/** What git reads in a git directory whatever it is asked, beside `refs` and `worktrees`. */
const READ = ['HEAD', 'config', 'config.worktree', 'commondir', 'gitdir', 'index', 'packed-refs', 'shallow']
const READ_BELOW = ['info/attributes', 'info/exclude', 'info/grafts', 'info/sparse-checkout', 'objects/info/alternates']
const MOST_ENTRIES = 100_000
const MOST_INCLUDES = 100
const MOST_CONFIG = 4 * 1024 * 1024

/** Git opens what it finds, and a pipe in the place of a file keeps it waiting for ever: a repository that has one is refused by its name. */
export function refusePipes(gitDirectories: Iterable<string>): void {
  for (const directory of new Set(gitDirectories)) {
    for (const name of [...READ, ...READ_BELOW]) refusePipe(join(directory, name))
    let left = MOST_ENTRIES
    for (const name of ['refs', 'worktrees', 'logs']) left = refuseBelow(join(directory, name), left)
    refuseIncluded(join(directory, 'config'))
  }
}

/** The repository that a directory is in, with nothing that git would wait for. */
export function findReadable(directory: string): Repository | undefined {
  const repository = findRepository(directory)
  if (repository) refusePipes([repository.gitDirectory, repository.commonDirectory])
  return repository
}

/** The same for the user's own configuration, which git reads for every repository. */
export function refusePipesOf(home: string): void {
  for (const name of ['.gitconfig', '.config/git/config']) {
    refusePipe(join(home, name))
    refuseIncluded(join(home, name), home)
  }
}

function refusePipe(path: string): void {
  const stat = statOf(path)
  if (!stat || stat.isFile() || stat.isDirectory()) return
  throw new SkeinError(
    'snapshot-refused',
    `${path} is not a file: git would wait for it`,
    'Move it away, then try again',
  )
}

/** Returns how many more entries may be looked at. */
function refuseBelow(directory: string, most: number): number {
  let left = most
  if (!statOf(directory)?.isDirectory()) return left
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (left <= 0) break
    left -= 1
    const path = join(directory, entry.name)
    if (entry.isDirectory()) left = refuseBelow(path, left)
    else if (!entry.isFile()) refusePipe(path)
  }
  return left
}

/** Files that a configuration includes, and those that they include. */
function refuseIncluded(config: string, home?: string): void {
  const seen = new Set([config])
  for (const path of seen) {
    if (seen.size > MOST_INCLUDES) return
    const text = guardedText(path, MOST_CONFIG) ?? ''
    for (const [, name = ''] of text.matchAll(
      /^[ \t]*(?:\[[^\]\n]*\][ \t]*)?path[ \t]*=[ \t]*"?([^"\n]+?)"?[ \t]*$/gim,
    )) {
      const isOfHome = home !== undefined && name.startsWith('~/')
      const included = isOfHome ? join(home, name.slice(2)) : isAbsolute(name) ? name : join(dirname(path), name)
      refusePipe(included)
      seen.add(included)
    }
  }
}
