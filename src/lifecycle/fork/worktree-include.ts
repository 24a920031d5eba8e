import { chmodSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { copyGuarded, realPath, refuseDeadDirectory, statOf } from '../../disk/index.js'
import type { Git } from '../sling/worktree.js'

/** The file in which a repository lists what of its ignored files a new worktree needs, one pattern of gitignore per line. */
const LIST = '.worktreeinclude'
const MOST_FILES = 5_000
const MOST_BYTES = 512 * 1024 * 1024

export interface Included {
  files: number
  /** Paths that were left out, with the reason. */
  left: { path: string; because: string }[]
}

/**
 * Copies the ignored files that `.worktreeinclude` names into a new worktree. Nothing that is there is replaced, no link leads out of the
 * repository, and nothing is run.
 */
export async function includeIgnored(git: Git, root: string, worktree: string): Promise<Included> {
  const included: Included = { files: 0, left: [] }
  refuseDeadDirectory(root)
  if (!statOf(join(root, LIST))?.isFile()) return included
  const listed = await git.run(root, 'ls-files', '-z', '--others', '--ignored', `--exclude-from=${LIST}`)
  if (listed === undefined) {
    included.left.push({ path: LIST, because: 'it names too many files' })
    return included
  }
  const named = listed.split('\0').filter((path) => path !== '')
  const paths = named.length === 0 ? [] : await ignoredOf(git, root, named)
  let bytes = 0
  for (const path of paths) {
    const size = lstatSync(join(root, path), { throwIfNoEntry: false })?.size ?? 0
    bytes += size
    const isMore = included.files >= MOST_FILES || bytes > MOST_BYTES
    const because = isMore ? `more than ${MOST_FILES} files or 512 MB` : copyOne(root, worktree, path)
    if (because === undefined) included.files += 1
    else included.left.push({ path, because })
    if (isMore) break
  }
  return included
}

/** Only what git ignores: everything else is in the snapshot as it was. */
async function ignoredOf(git: Git, root: string, paths: readonly string[]): Promise<string[]> {
  const found = await git.runWith(paths.map((path) => `${path}\0`).join(''), root, 'check-ignore', '-z', '--stdin')
  return (found ?? '').split('\0').filter((path) => path !== '')
}

/** Undefined when it was copied. */
function copyOne(root: string, worktree: string, path: string): string | undefined {
  const [from, to] = [join(root, path), join(worktree, path)]
  const stat = lstatSync(from, { throwIfNoEntry: false })
  if (!stat) return 'it is gone'
  if (lstatSync(to, { throwIfNoEntry: false })) return 'it is there already'
  mkdirSync(dirname(to), { recursive: true })
  if (!isWithin(realPath(worktree), realPath(dirname(to)))) return 'its directory is a link out of the worktree'
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(from)
    if (isAbsolute(target) || !isWithin(root, resolve(dirname(from), target)))
      return 'it is a link out of the repository'
    symlinkSync(target, to)
    return undefined
  }
  if (!stat.isFile()) return 'it is no file'
  copyGuarded(from, to, { noFollow: true })
  chmodSync(to, stat.mode & 0o777)
  return undefined
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
