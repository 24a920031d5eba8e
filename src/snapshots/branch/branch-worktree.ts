import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { guardedText, isThere, temporaryName } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import type { CaptureSetting } from '../capture.js'
import { addWorktree } from '../new-worktree.js'
import { findReadable } from '../readable-repository.js'
import { headOf, type Repository } from '../repository.js'
import { userConfig } from '../user-config.js'
import { stateDirectory } from '../worktree-state.js'
import { CONVERSION_SETTINGS } from './branch-tree.js'

export interface BranchWorktree {
  directory: string
  branch: string
  head: string
  /** The worktree that it was made beside. */
  root: string
}

/**
 * Makes a worktree on a new branch at HEAD, beside the repository. Files are written with git's own conversions alone: no hook and no filter of the
 * repository runs, so files of LFS are pointers until `git lfs pull`.
 */
export async function makeBranchWorktree(
  setting: Pick<CaptureSetting, 'snapshots' | 'git' | 'home'>,
  directory: string,
  name: string,
): Promise<BranchWorktree> {
  const { git } = setting
  const repository = findReadable(directory)
  if (!repository) throw refused(`${directory} is in no git repository`, 'Leave out --worktree, or run git init there')
  const { commit: head } = await headOf(repository, git)
  if (head === undefined) throw refused(`The repository of ${directory} has no commit yet`, 'Make one, then try again')
  const path = join(`${repository.commonDirectory.replace(/\/\.git$/, '')}.worktrees`, name)
  const branch = `skein/session/${name}`
  if (isThere(path)) throw refused(`${path} is already there`, 'Move it away')
  const at = ['--git-dir', repository.commonDirectory]
  const there = await git.run([...at, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`], { accept: [1] })
  if (there.code === 0) throw refused(`The branch ${branch} is already there`, 'Try again')
  const made: BranchWorktree = { directory: path, branch, head, root: repository.root }
  mkdirSync(dirname(path), { recursive: true })
  try {
    await addWorktree(git, at, { path, branch, commit: head })
    await checkOut(setting, repository, path, head)
  } catch (error) {
    await removeBranchWorktree(setting, made)
    throw error
  }
  return made
}

async function checkOut(
  { git, snapshots, home }: Pick<CaptureSetting, 'snapshots' | 'git' | 'home'>,
  repository: Repository,
  path: string,
  head: string,
): Promise<void> {
  const store = BareStore.open(snapshots, { root: repository.root, repository }, git)
  const gitDirectory = /^gitdir: ([\s\S]+?)\n*$/.exec(guardedText(join(path, '.git'), 8_192) ?? '')?.[1] ?? ''
  const own = temporaryName(join(stateDirectory(store.directory), 'checkout'))
  try {
    // A repository without the user's configuration: an attribute that names a filter finds no program.
    makeBorrower(own, store, 'ref: refs/heads/none', { bare: false })
    const config = await userConfig(repository, home, git)
    const settings = CONVERSION_SETTINGS.flatMap((key) => (config.has(key) ? ['-c', `${key}=${config.get(key)}`] : []))
    const env = { GIT_INDEX_FILE: join(gitDirectory, 'index') }
    const args = [...settings, '--git-dir', own, '--work-tree', path, 'read-tree', '--reset', '-u', head]
    await git.run(args, { cwd: path, env })
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** Takes it back; nobody has worked in it. */
export async function removeBranchWorktree(
  { git }: Pick<CaptureSetting, 'git'>,
  { directory, branch, head, root }: BranchWorktree,
): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  const repository = findReadable(root)
  if (!repository) return
  const at = ['--git-dir', repository.commonDirectory]
  // Not `prune`: that would drop every worktree of the user's that happens not to be mounted.
  await git.run([...at, 'worktree', 'remove', '--force', '--force', directory], { accept: [128] })
  await git.run([...at, 'update-ref', '--no-deref', '-d', `refs/heads/${branch}`, head], { accept: [1, 128] })
}

const refused = (message: string, next: string): SkeinError => new SkeinError('bad-input', message, next)
