import { rmSync } from 'node:fs'
import { isThere, sweepScratch } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { Forgetter } from '../privacy/index.js'
import { BareStore } from './bare-store.js'
import { blameFile, type FileBlame } from './blame/blame-file.js'
import { type BranchWorktree, makeBranchWorktree, removeBranchWorktree } from './branch/branch-worktree.js'
import { findTurn, type TurnName } from './branch/found-turn.js'
import { type PushEnd, type PushRequest, pushBranch } from './branch/push-branch.js'
import {
  type CommittedTurn,
  commitTurn,
  type MadeBranch,
  makeBranch,
  removeBranch,
  type TurnCommit,
} from './branch/turn-commit.js'
import { type CaptureRequest, type CaptureSetting, capture, WAIT_MS } from './capture.js'
import { type AdoptTarget, adoptCode, bundleCode } from './carried-code.js'
import type { CarriedCode } from './carried-facts.js'
import { changesBetween, changesOfPairs, type FileChange, patchBetween, refuseStrangers } from './diff.js'
import { type ExistingCommit, existingCommits } from './existing-commits.js'
import { type CommitExplanation, type ExplainLimits, explainCommit } from './explain/explain-commit.js'
import { Git, type GitProgram } from './git.js'
import { LIMITS, type Limits } from './limits.js'
import { madeCommits } from './made-commits.js'
import { messagesOf } from './messages.js'
import { type Restored, type RestoreTarget, restore } from './restore.js'
import { type Rewound, rewind } from './rewind.js'
import { ScratchWorktree } from './scratch/scratch-worktree.js'
import { recordIn, refOf, type Snapshot } from './snapshot.js'
import { type PathTouches, sessionsTouching } from './touching.js'
import { collect, dropRefs, isDue, type StoreCheck, type StoreStats, statsOf, verify } from './upkeep.js'

export interface SnapshotsSetup {
  /** The directory of the stores: `profiles/<profile>/snapshots`. */
  directory: string
  program: GitProgram
  now: () => number
  home?: string
  limits?: Partial<Limits>
  /** What was purged and must not come back. */
  forgetter?: Forgetter
  /** Sessions that were purged. */
  isGone?: (session: string) => boolean
}

/** The code state of turns: one profile's snapshots of all repositories. */
export class Snapshots {
  readonly #setting: CaptureSetting

  readonly #isGone: (session: string) => boolean

  constructor({ directory, program, now, home, limits, forgetter, isGone = () => false }: SnapshotsSetup) {
    this.#isGone = isGone
    const git = new Git(program)
    this.#setting = { snapshots: directory, git, now, home, limits: { ...LIMITS, ...limits }, forgetter }
  }

  async capture(request: CaptureRequest): Promise<Snapshot> {
    if (this.#isGone(request.session)) {
      const message = `Session ${request.session} was purged: its code is not kept`
      throw new SkeinError('snapshot-refused', message, 'Begin another session')
    }
    return capture(this.#setting, request)
  }

  restore(snapshot: Snapshot, target: RestoreTarget): Promise<Restored> {
    return restore(this.#setting, snapshot, target)
  }

  /** Puts the files back in place, after a safety snapshot; with `preview`, only says what would change. */
  rewind(snapshot: Snapshot, options: { preview: boolean }): Promise<Rewound> {
    return rewind(this.#setting, snapshot, options)
  }

  /** Writes snapshots as a git bundle, with all that their trees need. */
  bundle(snapshots: readonly Snapshot[], write: (bytes: Buffer) => void): Promise<CarriedCode> {
    return bundleCode(this.#setting, snapshots, write)
  }

  /** Makes a directory from such a bundle, and keeps its snapshots as those of another session. */
  adopt(code: CarriedCode, bundle: Iterable<Buffer>, target: AdoptTarget): Promise<Snapshot> {
    return adoptCode(this.#setting, code, bundle, target)
  }

  /** The files that differ between two snapshots, with lines added and removed. */
  async changes(before: Snapshot, after: Snapshot): Promise<FileChange[]> {
    const store = this.#common(before, after)
    return changesBetween(this.#setting.git, store, before.worktree_tree, after.worktree_tree)
  }

  /** The same for many pairs, with one process per store; pairs of different repositories have no changes to tell. */
  async changesOf(pairs: readonly (readonly [Snapshot, Snapshot])[]): Promise<FileChange[][]> {
    const found = new Map<readonly [Snapshot, Snapshot], FileChange[]>()
    for (const name of new Set(pairs.map(([before]) => before.store))) {
      const store = BareStore.named(this.#setting.snapshots, name, this.#setting.git)
      const here = pairs.filter(([before, after]) => before.store === name && after.store === name)
      const trees = here.map(([before, after]) => [before.worktree_tree, after.worktree_tree] as const)
      const changes = store ? await changesOfPairs(this.#setting.git, store, trees) : []
      for (const [at, pair] of here.entries()) found.set(pair, changes[at] ?? [])
    }
    return pairs.map((pair) => found.get(pair) ?? [])
  }

  async patch(before: Snapshot, after: Snapshot): Promise<string> {
    const store = this.#common(before, after)
    return patchBetween(this.#setting.git, store, before.worktree_tree, after.worktree_tree)
  }

  /** The commits that were made in the worktree between the two, oldest first. `isOwn`: the session is known to have made it. */
  async commits(before: Snapshot, after: Snapshot, isOwn: (commit: string) => boolean): Promise<string[]> {
    if (before.store !== after.store) return []
    return madeCommits(this.#setting.git, this.#common(before, after), { before, after, isOwn })
  }

  #common(before: Snapshot, after: Snapshot): BareStore {
    refuseStrangers(before, after)
    const store = BareStore.named(this.#setting.snapshots, before.store, this.#setting.git)
    if (store) return store
    throw new SkeinError('snapshot-not-found', `The store ${before.store} is not there`, 'Run `skein snapshots verify`')
  }

  /** Who wrote each line of a file of the user's, as it is now. */
  blame(file: string): Promise<FileBlame> {
    return blameFile(this.#setting, file, (name) => this.#inStore(name))
  }

  /** Where the lines of a commit come from, in the repository of a directory. */
  explain(directory: string, rev: string, limits?: Partial<ExplainLimits>): Promise<CommitExplanation> {
    return explainCommit(this.#setting, {
      directory,
      rev,
      of: (name) => this.#inStore(name),
      ...(limits ? { limits } : {}),
    })
  }

  /** Which commits a repository has, by beginnings of their ids; undefined where a directory is in none. */
  existingCommits(directory: string, beginnings: readonly string[]): Promise<Map<string, ExistingCommit> | undefined> {
    return existingCommits(this.#setting.git, directory, beginnings)
  }

  /** Which sessions changed a file, or something in a directory. */
  touching(path: string): Promise<PathTouches> {
    return sessionsTouching(this.#setting, path, (name) => this.#inStore(name))
  }

  async #inStore(name: string): Promise<Snapshot[]> {
    const store = BareStore.named(this.#setting.snapshots, name, this.#setting.git)
    return store ? this.#in(store, 'refs/turns') : []
  }

  /** A worktree outside the user's that shows snapshots of one root, for as long as it is not disposed. */
  async scratch(snapshot: Snapshot): Promise<ScratchWorktree> {
    await sweepScratch(this.#setting.now())
    return ScratchWorktree.make(this.#setting, snapshot)
  }

  /** Commits the files of a snapshot on a branch of the user's repository. */
  commitTurn(turn: TurnCommit): Promise<CommittedTurn> {
    return commitTurn(this.#setting, turn)
  }

  /** The commit of a turn on a branch of the user's repository. */
  findTurn(directory: string, branch: string, name: TurnName): Promise<string | undefined> {
    return findTurn(this.#setting.git, directory, branch, name)
  }

  /** Makes a branch at HEAD, which stays where it is. */
  makeBranch(directory: string, branch: string): Promise<MadeBranch> {
    return makeBranch(this.#setting.git, directory, branch)
  }

  removeBranch(directory: string, made: MadeBranch): Promise<void> {
    return removeBranch(this.#setting.git, directory, made)
  }

  /** Makes a worktree beside the repository, on a new branch `skein/session/<name>` at HEAD. */
  makeWorktree(directory: string, name: string): Promise<BranchWorktree> {
    return makeBranchWorktree(this.#setting, directory, name)
  }

  removeWorktree(made: BranchWorktree): Promise<void> {
    return removeBranchWorktree(this.#setting, made)
  }

  pushBranch(request: PushRequest): Promise<PushEnd> {
    return pushBranch(this.#setting, request)
  }

  /** Snapshots of a session, oldest first; of all sessions without one. */
  async list(session?: string): Promise<Snapshot[]> {
    const pattern = session === undefined ? 'refs/turns' : refOf(session, '').slice(0, -1)
    const found: Snapshot[] = []
    for (const store of this.#stores()) if (store.hasRefs(pattern)) found.push(...(await this.#in(store, pattern)))
    return found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq))
  }

  async find(session: string, seq: number): Promise<Snapshot> {
    const snapshot = (await this.list(session)).find((one) => one.seq === seq)
    if (snapshot) return snapshot
    throw new SkeinError(
      'snapshot-not-found',
      `Session ${session} has no snapshot ${seq}`,
      'Run `skein turns` to see them',
    )
  }

  /** Removes snapshots; `collect` frees their space. */
  async remove(snapshots: readonly Snapshot[]): Promise<void> {
    const { git, snapshots: directory } = this.#setting
    for (const name of new Set(snapshots.map(({ store }) => store))) {
      const store = BareStore.named(directory, name, git)
      if (!store) continue
      using _held = await store.hold(WAIT_MS)
      const refs = snapshots.filter((one) => one.store === name).map(({ session, seq }) => refOf(session, seq))
      await dropRefs(git, store, refs)
      // Of a directory that is gone, and that no snapshot shows any more.
      if (!isThere(store.facts.source) && (await store.commits('refs')).length === 0)
        rmSync(store.directory, { recursive: true, force: true })
    }
  }

  async stats(): Promise<StoreStats[]> {
    const found: StoreStats[] = []
    for (const store of this.#stores()) found.push(statsOf(store, await this.#in(store, 'refs/turns')))
    return found
  }

  /** Packs stores and drops what no snapshot needs; with `onlyDue`, only stores that have grown much. */
  async collect({ onlyDue }: { onlyDue: boolean }): Promise<string[]> {
    const done: string[] = []
    await sweepScratch(this.#setting.now())
    for (const store of this.#stores()) {
      if (onlyDue && !isDue(store)) continue
      using _held = await store.hold(WAIT_MS)
      await collect(this.#setting.git, store, await this.#in(store, 'refs/'), this.#setting.now())
      done.push(store.name)
    }
    return done
  }

  async verify(options: { full: boolean }): Promise<StoreCheck[]> {
    const checks: StoreCheck[] = []
    for (const store of this.#stores())
      checks.push(await verify(this.#setting.git, store, await this.#in(store, 'refs/turns'), options))
    return checks
  }

  #stores(): BareStore[] {
    return BareStore.all(this.#setting.snapshots, this.#setting.git)
  }

  async #in(store: BareStore, pattern: string): Promise<Snapshot[]> {
    const commits = (await store.commits(pattern)).filter(({ ref }) => !ref.startsWith('refs/bases/'))
    const messages = await messagesOf(
      this.#setting.git,
      store,
      commits.map(({ commit }) => commit),
    )
    return messages.flatMap(({ commit, message }) => {
      const record = recordIn(message)
      return record ? [{ ...record, store: store.name, commit }] : []
    })
  }
}
