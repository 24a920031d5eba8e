import type { Home } from '../home/index.js'
import type { Agents, AgentView } from '../lifecycle/index.js'

/** What operations work with. A command builds one for itself, the daemon one for all callers. */
export interface OperationContext {
  readonly nowMs: number
  /** The caller's directory; absent where nobody is in one. */
  readonly cwd?: string
  home(): Promise<Home>
  agents(): Promise<Agents>
  /** What agents do now: known already where something watches them, else by looking at each. */
  readonly live: LiveAgents
  readonly profiles: ProfileBook
  /** Where the user's settings are. The file need not exist. */
  readonly configFile: string
  /** Where the user's own privacy policy is kept. It need not exist. */
  readonly privacyFile: string
  /** Aborted when whoever asked no longer waits for the answer. For operations that wait: from now on it is theirs to end. */
  abandoned(): AbortSignal
}

export interface AgentFilter {
  readonly group?: string
  readonly all?: boolean
}

export interface LiveAgents {
  list(filter?: AgentFilter): Promise<AgentView[]>
  /** The agent that has waited longest, if any. */
  next(): Promise<AgentView | undefined>
}

/** The profiles of this home. */
export interface ProfileBook {
  /** The one that is in use. */
  readonly current: string
  list(): Promise<ProfileEntry[]>
  create(profile: string): Promise<ProfileEntry>
}

export interface ProfileEntry {
  name: string
  directory: string
}
