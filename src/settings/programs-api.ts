import type { GroupPath, Roles } from '../model/index.js'
import type { Environment, Runners } from '../tools/index.js'

export interface GroupAdmission {
  /** How many agents may run in it at once. */
  limit?: number
  /** Where its agents work. */
  repository?: string
  /** Bytes of memory that must stay free. */
  leastFree: number
}

/** What `[turns]` and the groups say about snapshots. */
export interface TurnSettings {
  /** Whether the code state of turns is kept. */
  snapshots: boolean
  /** A larger file is skipped. */
  mostFileBytes?: number
  /** What was read by then becomes a partial snapshot. */
  budgetMs?: number
  /** All snapshots of a profile should take no more than this; half of it is worth a warning. */
  mostDiskBytes: number
  /** Whether each agent has a branch with one commit per turn. */
  commit: boolean
  /** The remote that the branch is pushed to after each turn. */
  push?: string
}

/** What submits finished work. */
export interface OnDone {
  /** A program and its arguments. */
  command: readonly string[]
  limitMs: number
}

/** What keeps units of work. */
export type WorkProviderSettings =
  | { name: 'built-in' }
  /** The store that `bd` works on, and the file that says so. */
  | { name: 'beads'; directory: string; program: string; file: string }

/** The agent programs that can be run from here. */
export interface Programs {
  /** Ours and those of the configuration. Throws `bad-config` where that cannot be understood. */
  runners(): Promise<Runners>
  /** Where those programs keep their things. */
  environment(): Promise<Environment>
  /** The roles of agents, as configured. */
  roles(): Promise<Roles>
  /** The command that submits finished work, `[work] on_done`. */
  onDone(): Promise<OnDone | undefined>
  /** The command that makes a new worktree ready for a fork, `[fork] setup`: a program and its arguments. */
  forkSetup(): Promise<readonly string[] | undefined>
  /** What `[groups."<path>"]` and `[work]` say about starting agents in a group. */
  admission(group: GroupPath): Promise<GroupAdmission>
  /** What `[turns]` and `[groups."<path>"]` say about snapshots. */
  turns(group?: GroupPath): Promise<TurnSettings>
  /** The IANA zone that local times are written in. */
  zone(): string
}
