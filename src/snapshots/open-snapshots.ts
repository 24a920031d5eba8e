import { onDemand } from '../model/index.js'
import type { TurnStart } from './snapshot.js'
import type { Snapshots, SnapshotsSetup } from './snapshots.js'
import type { StartFacts } from './turn-start.js'

/** The snapshots of a profile. Nothing is loaded before the first question. */
export type SnapshotBook = Pick<
  Snapshots,
  | 'adopt'
  | 'blame'
  | 'bundle'
  | 'capture'
  | 'explain'
  | 'restore'
  | 'scratch'
  | 'rewind'
  | 'changes'
  | 'changesOf'
  | 'commits'
  | 'commitTurn'
  | 'findTurn'
  | 'makeBranch'
  | 'removeBranch'
  | 'makeWorktree'
  | 'removeWorktree'
  | 'pushBranch'
  | 'patch'
  | 'list'
  | 'find'
  | 'remove'
  | 'stats'
  | 'collect'
  | 'existingCommits'
  | 'touching'
  | 'verify'
> & {
  /** Arguments lose their secrets, files become one hash. */
  turnStart(facts: StartFacts): Promise<TurnStart>
}

/** `setup` is asked again for every use: what was purged since must not come back. */
export function openSnapshots(setup: () => Promise<SnapshotsSetup>): SnapshotBook {
  const load = onDemand(() => import('./snapshots.js'))
  const open = async (): Promise<Snapshots> => new (await load()).Snapshots(await setup())
  return {
    adopt: async (code, bundle, target) => (await open()).adopt(code, bundle, target),
    bundle: async (snapshots, write) => (await open()).bundle(snapshots, write),
    blame: async (file) => (await open()).blame(file),
    capture: async (request) => (await open()).capture(request),
    explain: async (directory, rev, limits) => (await open()).explain(directory, rev, limits),
    restore: async (snapshot, target) => (await open()).restore(snapshot, target),
    scratch: async (snapshot) => (await open()).scratch(snapshot),
    rewind: async (snapshot, options) => (await open()).rewind(snapshot, options),
    changes: async (before, after) => (await open()).changes(before, after),
    changesOf: async (pairs) => (await open()).changesOf(pairs),
    commits: async (before, after, isOwn) => (await open()).commits(before, after, isOwn),
    commitTurn: async (turn) => (await open()).commitTurn(turn),
    findTurn: async (directory, branch, name) => (await open()).findTurn(directory, branch, name),
    makeBranch: async (directory, branch) => (await open()).makeBranch(directory, branch),
    makeWorktree: async (directory, name) => (await open()).makeWorktree(directory, name),
    removeWorktree: async (made) => (await open()).removeWorktree(made),
    removeBranch: async (directory, made) => (await open()).removeBranch(directory, made),
    pushBranch: async (request) => (await open()).pushBranch(request),
    patch: async (before, after) => (await open()).patch(before, after),
    list: async (session) => (await open()).list(session),
    find: async (session, seq) => (await open()).find(session, seq),
    remove: async (snapshots) => (await open()).remove(snapshots),
    stats: async () => (await open()).stats(),
    collect: async (options) => (await open()).collect(options),
    existingCommits: async (directory, beginnings) => (await open()).existingCommits(directory, beginnings),
    touching: async (path) => (await open()).touching(path),
    verify: async (options) => (await open()).verify(options),
    turnStart: async (facts) => (await import('./turn-start.js')).turnStart(facts),
  }
}
