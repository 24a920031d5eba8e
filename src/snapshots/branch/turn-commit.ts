import { chmodSync, linkSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { copyGuarded, guardedText, namesIn, statOf, temporaryName } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { type CaptureSetting, WAIT_MS } from '../capture.js'
import type { Git } from '../git.js'
import { findReadable } from '../readable-repository.js'
import { headOf, type Repository, repositoryAt } from '../repository.js'
import type { Snapshot } from '../snapshot.js'
import { userConfig } from '../user-config.js'
import { bringObjects, detailsOf } from '../user-objects.js'
import { branchTree } from './branch-tree.js'

/** A turn to be put on a branch of the user's repository. */
export interface TurnCommit {
  snapshot: Snapshot
  /** The beginning of the turn. */
  before?: Snapshot | undefined
  /** Without `refs/heads/`. */
  branch: string
  message: string
  /** The worktree that was made for the branch: there HEAD and index follow. */
  worktree?: string | undefined
}

export interface CommittedTurn {
  commit: string
  /** Files that changed and are not in the commit: only a program that the repository names could convert them. */
  unconverted: string[]
}

type BranchSetting = Pick<CaptureSetting, 'snapshots' | 'git' | 'home'>

const MOST_TRIES = 5

/**
 * Commits the files of a snapshot on a branch that is checked out nowhere but in the worktree that was made for it. Objects and the ref are all that
 * the user's repository gets: no hook, no filter and no signing program runs, and HEAD, index and files of other worktrees stay as they are.
 */
export async function commitTurn(setting: BranchSetting, turn: TurnCommit): Promise<CommittedTurn> {
  const { git } = setting
  const { snapshot, before, branch } = turn
  const repository = findReadable(snapshot.root)
  const store = BareStore.named(setting.snapshots, snapshot.store, git)
  if (snapshot.git_directory === undefined || !repository)
    throw refused(`${snapshot.root} is in no git repository`, 'Run git init there')
  if (!store) throw refused(`The store ${snapshot.store} is not there`, 'Run `skein snapshots verify`')
  if (snapshot.mode === 'partial')
    throw refused('The snapshot of the turn is partial', 'The next whole one is committed')
  using _held = await store.hold(WAIT_MS)
  const config = await userConfig(repository, setting.home, git)
  for (let tries = 1; ; tries += 1) {
    const { tip, worktree } = await branchState(git, repository, branch)
    refuseUsed(repository, branch, worktree, turn.worktree)
    const parent = tip ?? snapshot.head
    const base = parent && `${parent}^{tree}`
    if (tip === undefined && parent !== undefined)
      await bringObjects(git, store, repository.commonDirectory, { ...NO_OBJECTS, commits: [parent] })
    const { tree, unconverted } = await branchTree(git, store, { snapshot, before, base, config })
    await bringObjects(git, store, repository.commonDirectory, { ...NO_OBJECTS, trees: [tree] })
    const message = withList(turn.message, unconverted)
    const commit = await writeCommit(git, repository, { tree, parent, message, config, at: snapshot.as_of })
    if (worktree !== undefined) await followIndex(git, store, repositoryAt(worktree) ?? repository, snapshot, tree)
    const args = ['update-ref', '--no-deref', '--create-reflog', '-m', `skein: ${turn.message.split('\n', 1)[0]}`]
    const ref = [`refs/heads/${branch}`, commit, tip ?? '0'.repeat(commit.length)]
    const { code, stderr } = await git.run(['--git-dir', repository.commonDirectory, ...args, ...ref], {
      accept: [1, 128],
    })
    if (code === 0) return { commit, unconverted }
    // Somebody else moved the branch in this moment.
    if (tries >= MOST_TRIES)
      throw refused(`The branch ${branch} cannot be moved: ${lastLine(stderr)}`, `See: git branch --list ${branch}`)
  }
}

const NO_OBJECTS = { commits: [], trees: [], blobs: [] }

/** A branch that was made, or will be by the first turn: a repository without a commit has no branches. */
export interface MadeBranch {
  branch: string
  head?: string
}

const MOST_NAMES = 20

/** Makes a branch at HEAD of a directory's repository, without a change to HEAD. A name that is taken gets a number. */
export async function makeBranch(git: Git, directory: string, wanted: string): Promise<MadeBranch> {
  const repository = findReadable(directory)
  if (!repository) throw refused(`${directory} is in no git repository`, 'Run git init there')
  const { commit: head } = await headOf(repository, git)
  const at = ['--git-dir', repository.commonDirectory]
  for (let n = 1; ; n += 1) {
    const branch = n === 1 ? wanted : `${wanted}-${n}`
    const there = await git.run([...at, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`], { accept: [1] })
    if (there.code === 0 && n < MOST_NAMES) continue
    if (head === undefined) return { branch }
    const args = ['update-ref', '--no-deref', '--create-reflog', '-m', 'skein: start', `refs/heads/${branch}`]
    const { code, stderr } = await git.run([...at, ...args, head, '0'.repeat(head.length)], { accept: [1, 128] })
    if (code === 0) return { branch, head }
    throw refused(`The branch ${branch} cannot be made: ${lastLine(stderr)}`, 'Rename the branch that is in the way')
  }
}

/** Takes back a branch that was made and has not moved since. */
export async function removeBranch(git: Git, directory: string, { branch, head }: MadeBranch): Promise<void> {
  const repository = findReadable(directory)
  if (!repository || head === undefined) return
  const args = ['update-ref', '--no-deref', '-d', `refs/heads/${branch}`, head]
  await git.run(['--git-dir', repository.commonDirectory, ...args], { accept: [1, 128] })
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

interface BranchState {
  tip?: string
  /** Where it is checked out. */
  worktree?: string
}

async function branchState(git: Git, { commonDirectory }: Repository, branch: string): Promise<BranchState> {
  const args = ['for-each-ref', '--format=%(objectname)%00%(worktreepath)%00%(symref)', `refs/heads/${branch}`]
  const line = await git.text(['--git-dir', commonDirectory, ...args])
  const [tip = '', worktree = '', other = ''] = Buffer.from(line, 'latin1').toString().split('\0')
  if (other !== '')
    throw refused(
      `The branch ${branch} stands for ${other}`,
      `Remove it: git symbolic-ref --delete refs/heads/${branch}`,
    )
  return { ...(tip === '' ? {} : { tip }), ...(worktree === '' ? {} : { worktree }) }
}

/** What git itself would refuse: to move a branch under somebody's feet. */
function refuseUsed(
  { commonDirectory }: Repository,
  branch: string,
  worktree: string | undefined,
  own: string | undefined,
): void {
  if (worktree !== undefined && worktree !== own)
    throw refused(`The branch ${branch} is checked out in ${worktree}`, 'Check out another branch there')
  const directories = [
    commonDirectory,
    ...namesIn(join(commonDirectory, 'worktrees')).map((name) => join(commonDirectory, 'worktrees', name)),
  ]
  for (const directory of directories)
    for (const name of ['rebase-merge/head-name', 'rebase-apply/head-name'])
      if (guardedText(join(directory, name), 8_192)?.trim() === `refs/heads/${branch}`)
        throw refused(`The branch ${branch} is being rebased`, 'Finish it: git rebase --continue, or --abort')
  if (worktree === undefined) return
  const { gitDirectory } = repositoryAt(worktree) ?? { gitDirectory: commonDirectory }
  const busy = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].find((name) => statOf(join(gitDirectory, name)))
  if (busy !== undefined) throw refused(`git is in the middle of something in ${worktree} (${busy})`, 'Finish it')
}

interface CommitFacts {
  tree: string
  parent: string | undefined
  message: string
  config: ReadonlyMap<string, string>
  at: string
}

/** In the name of the user, as a commit by hand would be. No program signs it. */
function writeCommit(git: Git, { commonDirectory }: Repository, facts: CommitFacts): Promise<string> {
  const { tree, parent, message, config, at } = facts
  const one = (name: string, otherwise: string): string => {
    const value = Buffer.from(config.get(name) ?? '', 'latin1').toString()
    return value.replace(/[<>\p{Cc}]/gu, '').trim() || otherwise
  }
  const who = `${one('user.name', 'skein')} <${one('user.email', 'skein@localhost')}> ${Math.floor(Date.parse(at) / 1000)} +0000`
  const lines = [`tree ${tree}`, ...(parent ? [`parent ${parent}`] : []), `author ${who}`, `committer ${who}`]
  const input = Buffer.from(`${lines.join('\n')}\n\n${message.replaceAll('\0', '').trimEnd()}\n`)
  return git.text(['--git-dir', commonDirectory, 'hash-object', '-t', 'commit', '-w', '--stdin'], { input })
}

function withList(message: string, unconverted: readonly string[]): string {
  if (unconverted.length === 0) return message
  const listed = unconverted.slice(0, 20).map((path) => `  ${path.replace(/\p{Cc}/gu, '?')}`)
  const [subject = '', ...rest] = message.split('\n')
  const more = unconverted.length > listed.length ? ['  …'] : []
  return [subject, '', 'Changed, but not in this commit (a filter converts them):', ...listed, ...more, ...rest].join(
    '\n',
  )
}

/**
 * Gives the index of the branch's own worktree the tree of the commit, so that git finds nothing changed. It is made beside its place; git's lock is
 * held only for the moment of the exchange, so that no command of the agent meets it.
 */
async function followIndex(
  git: Git,
  store: BareStore,
  { root, gitDirectory }: Repository,
  snapshot: Snapshot,
  tree: string,
): Promise<void> {
  const [path, lock] = [join(gitDirectory, 'index'), join(gitDirectory, 'index.lock')]
  const { skipped, assumed } = await detailsOf(store, snapshot, git)
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const stamp = stampOf(path)
    const own = temporaryName(join(gitDirectory, 'index.skein'))
    try {
      await indexWith(git, store, { root, path, own, tree, skipped, assumed })
      linkSync(own, lock)
      if (stampOf(path) !== stamp) {
        rmSync(lock, { force: true })
        continue
      }
      renameSync(lock, path)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * tries)) // a git of somebody else is at work
    } finally {
      rmSync(own, { force: true })
    }
  }
  throw refused('The index of the worktree is in use', `If no git runs there, remove ${lock}`)
}

interface NewIndex {
  root: string
  path: string
  own: string
  tree: string
  skipped: readonly string[]
  assumed: readonly string[]
}

async function indexWith(git: Git, store: BareStore, { root, path, own, tree, skipped, assumed }: NewIndex) {
  const call = { cwd: root, env: { GIT_INDEX_FILE: own } }
  const read = [...store.at(root), 'read-tree', '--reset', tree]
  const stat = statOf(path)
  if (stat) {
    copyGuarded(path, own, { noFollow: true })
    utimesSync(own, stat.atime, stat.mtime)
  }
  // One that is split in two cannot be read from here: then without what is known of the files.
  const { code } = await git.run(read, { ...call, accept: [128] })
  if (code !== 0) {
    rmSync(own, { force: true })
    await git.run(read, call)
  }
  for (const [flag, paths] of [
    ['--skip-worktree', skipped],
    ['--assume-unchanged', assumed],
  ] as const)
    if (paths.length > 0) {
      const input = Buffer.from(paths.map((one) => `${one}\0`).join(''), 'latin1')
      await git.run([...store.at(root), 'update-index', flag, '-z', '--stdin'], { ...call, input })
    }
  await git.run([...store.at(root), 'update-index', '-q', '--refresh'], { ...call, accept: [1] })
  if (stat) chmodSync(own, stat.mode & 0o777)
}

function stampOf(path: string): string {
  const stat = statOf(path)
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : ''
}

const refused = (message: string, next: string): SkeinError => new SkeinError('snapshot-refused', message, next)
