import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { guardedText, makeDirectory, statOf, temporaryName } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { BareStore } from './bare-store.js'
import type { CaptureSetting } from './capture.js'
import type { Git } from './git.js'
import type { IndexDetails } from './index-details.js'
import { addWorktree } from './new-worktree.js'
import { refusePipes } from './readable-repository.js'
import { recordIn, type SkippedPath, type Snapshot } from './snapshot.js'
import { bringObjects, detailsOf } from './user-objects.js'
import { stateDirectory } from './worktree-state.js'

export interface RestoreTarget {
  /** A directory that does not exist yet, or is empty. */
  path: string
  /** A new branch; HEAD is detached without one, and an unborn branch keeps its name. */
  branch?: string
  /** A commit with these files, which the branch begins at; index and HEAD are then that commit's, not those of the moment. */
  base?: string
}

export interface Restored {
  path: string
  head?: string
  branch?: string
  /** What the snapshot does not have. */
  missing: SkippedPath[]
}

type RestoreSetting = Pick<CaptureSetting, 'snapshots' | 'git'>

/**
 * Makes a new worktree of the user's repository, or a plain directory without git, that is what the snapshot shows: HEAD, index and files.
 * The snapshot's own worktree is not touched. If it fails, nothing is left.
 */
export async function restore(setting: RestoreSetting, snapshot: Snapshot, target: RestoreTarget): Promise<Restored> {
  const path = resolve(target.path)
  const store = BareStore.named(setting.snapshots, snapshot.store, setting.git)
  if (!store) throw lostStore(snapshot)
  refuseFull(path)
  if (snapshot.git_directory !== undefined) refusePipes([store.facts.source])
  if (target.branch !== undefined) await refuseTaken(setting.git, store, target.branch)
  const wasThere = statOf(path) !== undefined
  const work: Restoration = { setting, store, snapshot, path, branch: target.branch, base: target.base }
  try {
    if (snapshot.git_directory === undefined) await restoreFiles(work)
    else await restoreWorktree(work)
    for (const { path: inner, store: name, commit } of snapshot.nested)
      await restore(setting, await nestedSnapshot(setting, name, commit), { path: join(path, inner) })
  } catch (error) {
    await takeBack(work, wasThere)
    throw error
  }
  const head = target.base ?? snapshot.head
  return {
    path,
    ...(head === undefined ? {} : { head }),
    ...(target.branch === undefined ? {} : { branch: target.branch }),
    missing: snapshot.skipped,
  }
}

interface Restoration {
  setting: RestoreSetting
  store: BareStore
  snapshot: Snapshot
  path: string
  branch: string | undefined
  base: string | undefined
}

/** The snapshot of a repository inside a worktree. */
export async function nestedSnapshot(
  { snapshots, git }: RestoreSetting,
  name: string,
  commit: string,
): Promise<Snapshot> {
  const store = BareStore.named(snapshots, name, git)
  const record = store && recordIn(await git.text([...store.at(), 'cat-file', 'commit', commit]).then(utf8))
  if (!record)
    throw new SkeinError('snapshot-not-found', `The snapshot of a repository inside is gone from ${name}`, VERIFY)
  return { ...record, store: name, commit }
}

const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString()
const VERIFY = 'Run `skein snapshots verify`'

async function restoreFiles({ setting, store, snapshot, path }: Restoration): Promise<void> {
  makeDirectory(path)
  const index = temporaryName(join(stateDirectory(store.directory), 'restore'))
  try {
    await checkOut(setting.git, store, snapshot.worktree_tree, path, index)
  } finally {
    rmSync(index, { force: true })
  }
}

/** Raw bytes, by our store's rules: no filter of the user runs. With all cores: most of the time goes into inflating objects. */
export async function checkOut(git: Git, store: BareStore, tree: string, path: string, index: string): Promise<void> {
  const env = { GIT_INDEX_FILE: index }
  const args = ['-c', 'checkout.workers=0', ...store.at(path), 'read-tree', '--reset', '-u', tree]
  await git.run(args, { cwd: path, env })
}

async function restoreWorktree({ setting: { git }, store, path, branch, ...from }: Restoration): Promise<void> {
  const source = store.facts.source
  const at = ['--git-dir', source]
  const { snapshot, details } = await stateFor(git, store, from)
  const merged = Object.entries(details.pending).flatMap(([name, text]) =>
    name.endsWith('_HEAD') ? (text.match(/^[0-9a-f]{40,64}$/gm) ?? []) : [],
  )
  await bringObjects(git, store, source, {
    commits: [...(snapshot.head === undefined ? [] : [snapshot.head]), ...merged],
    trees: snapshot.index_tree === undefined ? [] : [snapshot.index_tree],
    blobs: details.stages.filter(({ mode }) => mode !== '160000').map(({ oid }) => oid),
  })
  const base = snapshot.head ?? (await emptyCommit(git, at))
  await addWorktree(git, at, { path, branch: snapshot.head === undefined ? undefined : branch, commit: base })
  const gitDirectory = /^gitdir: ([\s\S]+?)\n*$/.exec(guardedText(join(path, '.git'), 8_192) ?? '')?.[1] ?? ''
  const own = ['--git-dir', gitDirectory]
  if (snapshot.head === undefined)
    await git.run([...own, 'symbolic-ref', 'HEAD', `refs/heads/${branch ?? snapshot.branch ?? 'main'}`])
  const index = join(gitDirectory, 'index')
  await checkOut(git, store, snapshot.worktree_tree, path, index)
  await setIndex(git, store, snapshot, path, index, details)
  for (const [name, text] of Object.entries(details.pending)) writeFileSync(join(gitDirectory, name), text)
  if (details.sparse !== undefined) {
    mkdirSync(join(gitDirectory, 'info'), { recursive: true })
    writeFileSync(join(gitDirectory, 'info', 'sparse-checkout'), details.sparse)
  }
}

/** HEAD and index of the moment, or those of a commit that has the files: then nothing is staged, and git is in the middle of nothing. */
async function stateFor(
  git: Git,
  store: BareStore,
  { snapshot, base }: Pick<Restoration, 'snapshot' | 'base'>,
): Promise<{ snapshot: Snapshot; details: IndexDetails }> {
  const details = await detailsOf(store, snapshot, git)
  if (base === undefined) return { snapshot, details }
  const tree = await git.text(['--git-dir', store.facts.source, 'rev-parse', '--verify', `${base}^{tree}`])
  return {
    snapshot: { ...snapshot, head: base, index_tree: tree },
    details: { ...details, stages: [], intents: [], pending: {} },
  }
}

/** From an index that has the files to the one that the user had; entries that agree keep what is known of their files. */
export async function setIndex(
  git: Git,
  store: BareStore,
  snapshot: Snapshot,
  root: string,
  index: string,
  known?: IndexDetails,
): Promise<void> {
  const details = known ?? (await detailsOf(store, snapshot, git))
  const call = { cwd: root, env: { GIT_INDEX_FILE: index } }
  const at = store.at(root)
  const update = async (args: readonly string[], text: string): Promise<void> => {
    if (text !== '')
      await git.run([...at, 'update-index', '-z', ...args], { ...call, input: Buffer.from(text, 'latin1') })
  }
  const listed = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('')
  const tree = snapshot.index_tree === undefined ? ['--empty'] : ['--reset', snapshot.index_tree]
  await git.run([...at, 'read-tree', ...tree], call)
  const stages = details.stages.map(({ mode, oid, stage, path }) => `${mode} ${oid} ${stage}\t${path}\0`)
  await update(['--index-info'], stages.join(''))
  if (details.intents.length > 0) {
    const args = ['--literal-pathspecs', 'add', '-N', '-f', '--pathspec-from-file=-', '--pathspec-file-nul']
    await git.run([...at, ...args], { ...call, input: Buffer.from(listed(details.intents), 'latin1') })
  }
  await update(['--assume-unchanged', '--stdin'], listed(details.assumed))
  await update(['--skip-worktree', '--stdin'], listed(details.skipped))
}

/** A worktree needs a commit to begin with; HEAD then leaves it for the unborn branch. */
async function emptyCommit(git: Git, at: readonly string[]): Promise<string> {
  const tree = await git.text([...at, 'hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' })
  return git.text([...at, 'commit-tree', '-m', 'empty', tree])
}

async function takeBack(
  { setting: { git }, store, snapshot, path, branch, base }: Restoration,
  wasThere: boolean,
): Promise<void> {
  for (const name of statOf(path) ? readdirSync(path) : []) rmSync(join(path, name), { recursive: true, force: true })
  if (!wasThere && statOf(path)) rmdirSync(path)
  if (snapshot.git_directory === undefined || !statOf(store.facts.source)) return
  const at = ['--git-dir', store.facts.source]
  // Not `prune`: that would drop every worktree of the user's that happens not to be mounted.
  await git.run([...at, 'worktree', 'remove', '--force', '--force', path], { accept: [128] })
  const head = base ?? snapshot.head
  if (branch !== undefined && head !== undefined)
    await git.run([...at, 'update-ref', '-d', `refs/heads/${branch}`, head], { accept: [1, 128] })
}

function refuseFull(path: string): void {
  const stat = statOf(path)
  if (!stat || (stat.isDirectory() && readdirSync(path).length === 0)) return
  throw new SkeinError('bad-input', `${path} is already there`, 'Choose a directory that does not exist yet')
}

async function refuseTaken(git: Git, store: BareStore, branch: string): Promise<void> {
  const at = ['--git-dir', store.facts.source]
  const ref = `refs/heads/${branch}`
  const [named, there] = await Promise.all([
    git.run([...at, 'check-ref-format', ref], { accept: [1] }),
    git.run([...at, 'show-ref', '--verify', '--quiet', ref], { accept: [1, 128] }),
  ])
  if (named.code !== 0)
    throw new SkeinError('bad-input', `"${branch}" cannot be the name of a branch`, 'Choose another name')
  if (there.code === 0)
    throw new SkeinError('bad-input', `The branch ${branch} is already there`, 'Choose another name')
}

const lostStore = ({ store }: Snapshot): SkeinError =>
  new SkeinError('snapshot-not-found', `The store ${store} is not there`, VERIFY)
