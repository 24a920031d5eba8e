import { SLACK_MS } from '../head-moves.js'
import type { Snapshot } from '../snapshot.js'
import type { UserCommit } from './user-commit.js'

/**
 * The snapshots that may show what a commit was made of, of those given oldest first: all up to the commit, and the end of each turn in which it may have
 * been made. Later ones have what was written since.
 */
export function knownSnapshots(
  snapshots: readonly Snapshot[],
  { commit, parents, committed_at }: Pick<UserCommit, 'commit' | 'parents' | 'committed_at'>,
): Snapshot[] {
  const untilMs = Math.max(Date.parse(committed_at) + SLACK_MS, madeBy(snapshots, commit, parents))
  const open = new Map<string, Snapshot>()
  return snapshots.filter((snapshot) => {
    const { session, root, moment, as_of } = snapshot
    const key = `${session} ${root}`
    const isBefore = Date.parse(as_of) <= untilMs
    const begun = open.get(key)
    if (moment === 'stop') open.delete(key)
    else if (moment === 'prompt' && isBefore) open.set(key, snapshot)
    return isBefore || (moment === 'stop' && begun !== undefined)
  })
}

/** A date can be anything: a commit that a worktree was seen to move to from its parent was made by then. */
function madeBy(snapshots: readonly Snapshot[], commit: string, parents: readonly string[]): number {
  const seen = snapshots.findIndex(({ head }) => head === commit)
  const made = snapshots[seen]
  if (!made) return 0
  const before = snapshots.slice(0, seen).findLast(({ root }) => root === made.root)
  return before?.head !== undefined && parents.includes(before.head) ? Date.parse(made.as_of) : 0
}
