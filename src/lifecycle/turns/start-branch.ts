import type { Home, SnapshotBook } from '../../home/index.js'
import { type Agent, containerOf, SkeinError } from '../../model/index.js'
import { nowOf, type Parts } from '../parts.js'
import { branchNameOf } from './commit-turns.js'
import { type TurnBranch, TurnBranches } from './turn-branch.js'

export type MadeWorktree = Awaited<ReturnType<SnapshotBook['makeWorktree']>>

const isOnFor = async (home: Home, { address }: Pick<Agent, 'address'>): Promise<boolean> => {
  const { commit, snapshots } = await home.programs.turns(containerOf(address))
  return commit && snapshots
}

/** The worktree of an agent that is about to be made, on a branch of its own. */
export function makeWorktree({ home, context }: Parts, cwd: string): Promise<MadeWorktree> {
  return home.snapshots.makeWorktree(cwd, context.random.uuid().slice(0, 8))
}

/** Notes that an agent works in a worktree that was made for it, on this branch. */
export function noteWorktree(
  parts: Parts,
  agent: Pick<Agent, 'id'>,
  { directory, branch }: Pick<MadeWorktree, 'directory' | 'branch'>,
): void {
  const made: TurnBranch = { v: 1, branch, directory, worktree: directory, since: nowOf(parts), done: {}, turns: 0 }
  new TurnBranches(parts.home.paths.agents).write(agent.id, made)
}

/**
 * With `turns.commit`, the branch on which an agent's turns will be committed, beside that of the user: HEAD, index and files stay as they are.
 * One that cannot be made is not a reason to start no agent. Returns what takes it back.
 */
export async function readyBranch(parts: Parts, agent: Agent, cwd: string): Promise<(() => Promise<void>) | undefined> {
  const branches = new TurnBranches(parts.home.paths.agents)
  try {
    if (!(await isOnFor(parts.home, agent)) || branches.of(agent.id)) return undefined
    const made = await parts.home.snapshots.makeBranch(cwd, branchNameOf(agent.id))
    branches.write(agent.id, { v: 1, branch: made.branch, directory: cwd, since: nowOf(parts), done: {}, turns: 0 })
    return async () => {
      branches.forget(agent.id)
      await parts.home.snapshots.removeBranch(cwd, made)
    }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    parts.context.warn(`No branch for the turns of ${agent.address}: ${error.message}`)
    return undefined
  }
}
