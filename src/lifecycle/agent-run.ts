import type { AgentId, AgentStatus, Instant, SessionId } from '../model/index.js'
import type { PaneId, TmuxSocket } from '../terminal/index.js'

/** How an agent is started, kept so that it comes back with the same rights and settings or not at all. */
export interface Recipe {
  tool: string
  cwd: string
  model?: string
  args?: string[]
  mcp?: string[]
  dangerous?: boolean
  /** Names of the variables the user gave with --env. Their values are in `agents/<id>.env` (0600), never in the journal. */
  env_names?: string[]
}

/** The process an agent runs in now. */
export interface LiveRun {
  /** Chosen per start: messages of an older run are told apart by it. */
  id: string
  socket: TmuxSocket
  tmux_session: string
  pane: PaneId
  pid: number
  /** The kernel's start time of that pid: only this very process is ever signalled. */
  process_start?: number
  started_at: Instant
  port: number
}

/** Which conversation an agent is in, and how that is known. */
export interface Binding {
  session: SessionId
  since: Instant
  /** `chosen` before the start, confirmed or changed by what the program told. */
  how: 'chosen' | 'startup' | 'resume' | 'clear' | 'compact' | 'fork' | 'captured'
  is_confirmed: boolean
  log?: string
}

/** Everything about running an agent that must outlive our processes, tmux and the machine: one file per agent, `agents/<id>.json`. */
export interface AgentRun {
  v: 1
  agent: AgentId
  recipe: Recipe
  binding?: Binding
  run?: LiveRun
  status: AgentStatus
  /** A finished reply was seen by its user up to this moment. */
  acked_at?: Instant
  snoozed_until?: Instant
  archived_at?: Instant
}
