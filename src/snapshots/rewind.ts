import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyGuarded, temporaryName } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { BareStore } from './bare-store.js'
import { type CaptureSetting, captureHeld, WAIT_MS } from './capture.js'
import type { FileChange } from './diff.js'
import { changeFew } from './few-files.js'
import type { Git } from './git.js'
import { refuseInTheWay } from './in-the-way.js'
import { PENDING } from './index-details.js'
import { leftAlone, treeWithout } from './left-alone.js'
import { type MovedFile, type MovePlan, planMove } from './move-plan.js'
import { refusePipes } from './readable-repository.js'
import { headOf, type Repository, repositoryAt } from './repository.js'
import { setIndex } from './restore.js'
import { type Snapshot, shown } from './snapshot.js'
import { UserIndex } from './user-index.js'
import { bringObjects, detailsOf } from './user-objects.js'
import { WorktreeIndex } from './worktree-index.js'
import { readState, stateDirectory, writeState } from './worktree-state.js'

export interface Rewound {
  /** What the files were before: rewinding to it undoes the rewind. */
  safety: Snapshot
  /** From now to the snapshot. */
  changes: FileChange[]
  /** Whether the index becomes what it was. It is left alone when HEAD has moved since: it would show the commits in between as undone. */
  index: 'restored' | 'kept'
  /** Repositories inside, which are left alone. */
  nested: string[]
  /** Files that would change, and are not in the snapshot for another reason than that they were not there: these, too. */
  leftAlone: string[]
  isDone: boolean
}

/**
 * Puts the files of a worktree back, in place. A snapshot of what they are now is taken first. HEAD and branches stay. A file that changes
 * meanwhile stops it before anything is written. With `preview`, only says what would change.
 */
export async function rewind(
  setting: CaptureSetting,
  snapshot: Snapshot,
  { preview }: { preview: boolean },
): Promise<Rewound> {
  const { git } = setting
  const repository = snapshot.git_directory === undefined ? undefined : repositoryAt(snapshot.root)
  if (snapshot.git_directory !== undefined && !repository) throw movedAway(snapshot)
  if (repository) refusePipes([repository.gitDirectory, repository.commonDirectory])
  const store = BareStore.open(setting.snapshots, { root: snapshot.root, repository }, git)
  if (store.name !== snapshot.store) throw movedAway(snapshot)
  using _held = await store.hold(WAIT_MS)
  const { safety, plan, left } = await takeSafety(setting, { store, repository, snapshot })
  if (safety.mode === 'partial' && !preview) throw notSafe(safety)
  const head = repository && (await headOf(repository, git))
  const isSameHead = repository !== undefined && head?.commit === snapshot.head
  const rewound: Omit<Rewound, 'isDone'> = {
    safety,
    changes: plan.changes,
    index: isSameHead ? 'restored' : 'kept',
    nested: snapshot.nested.map(({ path }) => path),
    leftAlone: left.map(({ path }) => shown(path)),
  }
  refuseInTheWay(snapshot.root, plan.files)
  if (preview) return { ...rewound, isDone: false }
  const change = async (): Promise<void> => {
    const startMs = setting.now()
    if (changeFew(snapshot.root, plan, store.objects)) return
    const state = readState(store.directory, snapshot.root) ?? { v: 1, root: snapshot.root }
    using index = new WorktreeIndex(store, git, snapshot.root, state)
    await index.move(plan.from, plan.to)
    index.save(startMs)
    writeState(store.directory, state)
  }
  if (repository && isSameHead) {
    const isSame = hasSameIndex(store, { now: safety, past: snapshot, plan })
    await withUserIndex(setting, { store, repository, snapshot, isSame }, change)
  } else await change()
  return { ...rewound, isDone: true }
}

/**
 * The safety snapshot, and what then has to be changed. Most often the files are what they were at the last snapshot, so that this is found out while
 * git compares them.
 */
async function takeSafety(
  setting: CaptureSetting,
  { store, repository, snapshot }: Omit<IndexRewind, 'isSame' | 'repository'> & { repository: Repository | undefined },
): Promise<{ safety: Snapshot } & Planned> {
  const { root, session } = snapshot
  const plan = (from: string): Promise<Planned> => planWithin(setting.git, store, from, snapshot)
  const known = readState(store.directory, root)?.tree?.oid
  const request = { directory: root, session, moment: 'safety' as const }
  const taking = captureHeld(setting, request, { root, repository, store, depth: 0 })
  taking.catch(() => {})
  // Behind the start of what everything else waits for.
  await new Promise((resolve) => setImmediate(resolve))
  const planning = known === undefined ? undefined : plan(known)
  planning?.catch(() => {})
  const safety = await taking.finally(() => planning?.catch(() => {}))
  if (known === safety.worktree_tree && planning) return { safety, ...(await planning) }
  return { safety, ...(await plan(safety.worktree_tree)) }
}

interface Planned {
  plan: MovePlan
  /** Of what the snapshot left out. */
  left: MovedFile[]
}

async function planWithin(git: Git, store: BareStore, from: string, snapshot: Snapshot): Promise<Planned> {
  const plan = await planMove(git, store, from, snapshot)
  const left = leftAlone(plan, snapshot)
  if (left.length === 0) return { plan, left }
  const worktree_tree = await treeWithout(git, store, snapshot, left)
  return { plan: await planMove(git, store, from, { ...snapshot, worktree_tree }), left }
}

/** Whether the user's index says what it said then, and git is in the middle of the same: the safety snapshot has just read it. */
function hasSameIndex(
  store: BareStore,
  { now, past, plan }: { now: Snapshot; past: Snapshot; plan: MovePlan },
): boolean {
  if (now.index_tree !== past.index_tree || now.late.includes('.git')) return false
  return readState(store.directory, past.root)?.user?.details === plan.details
}

interface IndexRewind {
  store: BareStore
  repository: Repository
  snapshot: Snapshot
  isSame: boolean
}

/** Holds git's own lock on the user's index while the files change, and puts the index of the snapshot in its place. */
async function withUserIndex(
  { git }: CaptureSetting,
  { store, repository, snapshot, isSame }: IndexRewind,
  change: () => Promise<void>,
): Promise<void> {
  if (isSame && (await besideLockedIndex(store, repository, snapshot, change))) return
  const details = await detailsOf(store, snapshot, git)
  await bringObjects(git, store, store.facts.source, {
    commits: [],
    trees: snapshot.index_tree === undefined ? [] : [snapshot.index_tree],
    blobs: details.stages.filter(({ mode }) => mode !== '160000').map(({ oid }) => oid),
  })
  const path = join(repository.gitDirectory, 'index')
  const lock = `${path}.lock`
  const copy = temporaryName(join(stateDirectory(store.directory), 'rewind'))
  try {
    await UserIndex.read(repository, store.hashBytes).copyTo(copy, store, git)
    await setIndex(git, store, snapshot, snapshot.root, copy)
    refuseLocked(lock, () => copyGuarded(copy, lock, { noFollow: true }))
  } finally {
    rmSync(copy, { force: true })
  }
  try {
    chmodSync(lock, (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777)
    await change()
    renameSync(lock, path)
  } catch (error) {
    rmSync(lock, { force: true })
    throw error
  }
  for (const name of PENDING) {
    const text = details.pending[name]
    if (text === undefined) rmSync(join(repository.gitDirectory, name), { force: true })
    else writeFileSync(join(repository.gitDirectory, name), text)
  }
}

/** The same for an index that stays as it is. False, with nothing done, when somebody changed it since the safety snapshot. */
async function besideLockedIndex(
  store: BareStore,
  repository: Repository,
  { root }: Snapshot,
  change: () => Promise<void>,
): Promise<boolean> {
  const lock = join(repository.gitDirectory, 'index.lock')
  refuseLocked(lock, () => writeFileSync(lock, '', { mode: 0o600, flag: 'wx' }))
  try {
    const seen = readState(store.directory, root)?.user?.key
    if (UserIndex.read(repository, store.hashBytes).key !== seen) return false
    await change()
    return true
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Makes the lock; refused where git has it. */
function refuseLocked(lock: string, make: () => void): void {
  try {
    make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const next = `Wait for the git command that runs there; if none does, remove ${lock}`
    throw new SkeinError('snapshot-refused', 'The repository is in use: its index is locked', next, { cause: error })
  }
}

const movedAway = ({ root }: Snapshot): SkeinError =>
  new SkeinError(
    'snapshot-refused',
    `${root} is no longer what was captured`,
    'Restore the snapshot into a new directory',
  )

const notSafe = ({ root }: Snapshot): SkeinError =>
  new SkeinError(
    'snapshot-refused',
    `${root} could not be captured completely, so a rewind could not be undone`,
    'Restore the snapshot into a new directory',
  )
