import { dirname } from 'node:path'
import { deadMountOn, notAnswering } from '../disk/index.js'
import { SkeinError } from '../model/index.js'

/** What one capture may cost. */
export interface Limits {
  /** A larger file is skipped, unless the user's repository already has it. */
  mostFileBytes: number
  /** When the time is up, what was read so far becomes a partial snapshot. */
  budgetMs: number
  /** Of one capture. Without git, a directory with more than this is refused; in a repository the rest is skipped. */
  mostFiles: number
  mostBytes: number
  /** Repositories inside the worktree that are captured too. */
  mostNested: number
}

export const LIMITS: Limits = {
  mostFileBytes: 32 * 1024 * 1024,
  budgetMs: 60_000,
  mostFiles: 50_000,
  mostBytes: 1024 * 1024 * 1024,
  mostNested: 50,
}

/** The root of the system, a home directory, or what is above one. */
export function isWideRoot(root: string, home: string | undefined): boolean {
  const isAbove = (path: string): boolean => path === root || (dirname(path) !== path && isAbove(dirname(path)))
  return root === '/' || (home !== undefined && isAbove(home))
}

/** Refuses a directory without git that nobody would want to be copied as a whole. */
export function refuseWide(root: string, home: string | undefined): void {
  if (!isWideRoot(root, home)) return
  throw new SkeinError(
    'snapshot-refused',
    `${root} is not captured: it has no git repository and is the root of the system, a home directory or above one`,
    'Work in a directory of its own, or run `git init` there',
  )
}

export function notThere(directory: string): SkeinError {
  const mount = deadMountOn(directory)
  const what = mount === undefined ? 'no directory' : notAnswering(mount)
  return new SkeinError('snapshot-refused', `${directory} is ${what}`, 'Name a directory that exists')
}

export function tooMuch(root: string, what: string): SkeinError {
  return new SkeinError(
    'snapshot-refused',
    `${root} is not captured: without a git repository it has more than ${what}`,
    'Run `git init` there and ignore what should not be kept',
  )
}
