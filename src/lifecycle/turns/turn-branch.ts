import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, textIn, writeAtomic } from '../../disk/index.js'
import { type AgentId, type Instant, readJson, shapes } from '../../model/index.js'
import { BRANCH_FILE } from '../agent-runs.js'

const { count, isObject, misfit, path, shape, shaped, text, time } = shapes

/** The branch on which an agent's turns are committed (`turns.commit`). */
export interface TurnBranch {
  v: 1
  branch: string
  /** Where the agent works; `worktree` if that was made for the branch. */
  directory: string
  worktree?: string
  since: Instant
  /** By session: the last snapshot that was committed, or passed over. */
  done: Record<string, number>
  /** How many turns were committed, and the last commit. */
  turns: number
  commit?: string
  /** Why the last turn is not on the branch. */
  problem?: { at: Instant; reason: string }
  push?: TurnPush
}

/** The last attempt to push. */
export interface TurnPush {
  remote: string
  outcome: 'pushed' | 'rejected' | 'refused' | 'failed'
  at: Instant
  /** What the remote has. */
  commit?: string
  reason?: string
  /** Attempts without success, and when the next one is due. */
  tries: number
  next_at?: Instant
}

const PUSH = shape({
  remote: text,
  outcome: text,
  at: time,
  'commit?': text,
  'reason?': text,
  tries: count,
  'next_at?': time,
})
const BRANCH = shape({
  v: (value) => value === 1,
  branch: text,
  directory: path,
  'worktree?': path,
  since: time,
  done: isObject,
  turns: count,
  'commit?': text,
  'problem?': shaped(shape({ at: time, reason: text })),
  'push?': shaped(PUSH),
})

/** One file per agent, beside the other files of its runs. */
export class TurnBranches {
  constructor(private readonly agents: string) {}

  of(agent: AgentId): TurnBranch | undefined {
    const value = readJson(textIn(this.#path(agent)) ?? '')
    return isObject(value) && misfit(value, BRANCH) === undefined ? (value as unknown as TurnBranch) : undefined
  }

  write(agent: AgentId, branch: TurnBranch): void {
    makeDirectory(join(this.agents, agent))
    writeAtomic(this.#path(agent), `${JSON.stringify(branch)}\n`, { durable: false })
  }

  /** Read and written in one go: commits and pushes go on beside each other. */
  update(agent: AgentId, change: (branch: TurnBranch) => TurnBranch): void {
    const branch = this.of(agent)
    if (branch) this.write(agent, change(branch))
  }

  forget(agent: AgentId): void {
    rmSync(this.#path(agent), { force: true })
  }

  #path(agent: AgentId): string {
    return join(this.agents, agent, BRANCH_FILE)
  }
}

/** A branch as faces show it. */
export interface TurnBranchView extends Pick<TurnBranch, 'branch' | 'worktree' | 'turns' | 'commit' | 'problem'> {
  push?: TurnPush
}

export function turnBranchView({ branch, worktree, turns, commit, problem, push }: TurnBranch): TurnBranchView {
  return {
    branch,
    turns,
    ...(worktree === undefined ? {} : { worktree }),
    ...(commit === undefined ? {} : { commit }),
    ...(problem ? { problem } : {}),
    ...(push ? { push } : {}),
  }
}
