import type { AgentAddress } from './address.js'
import type { AgentId, SessionId } from './ids.js'
import type { Link, Outcome } from './outcome.js'
import type { Instant } from './time.js'

/**
 * One native conversation of a tool. This is the one shape of a session: in its file, in the index, in `--json` and in
 * the library, with the field names that were promised, so that nothing can be lost in a translation.
 * A session without `outcome` is active.
 */
export interface Session {
  // Identity
  id: SessionId
  tool?: string
  title?: string
  /** What its log calls it. `title` follows it until a person gives another. */
  log_title?: string
  tmux_session?: string
  agent?: AgentAddress
  agent_id?: AgentId
  /** The outermost group of the agent's address. */
  rig?: string
  role?: string
  /** Why it was started, as its beacon says: `cold-start`, `handoff`, `assigned`. */
  topic?: string
  /** Who started it, as its beacon says. */
  sender?: string
  host?: string
  /**
   * `log` when it was found in a tool's log rather than reported to Skein. `run` when its program has no ids of its own: then one run
   * of it is one session, under an id that Skein made.
   */
  source?: 'log' | 'run'

  // Lifecycle
  started_at: Instant
  ended_at?: Instant
  outcome?: Outcome
  /** Why it ended, in words: "pane died", "usage limit". */
  reason?: string

  // Work context
  work_unit?: string
  molecule_id?: string
  /** The step being executed now. */
  step_ref?: string
  steps?: Step[]
  /** What people noted of its turns, and which of them they want to keep; by number. */
  turn_marks?: TurnMark[]

  // Linking
  /** The session this one continues. */
  parent_id?: SessionId
  /** The session that continues this one. */
  child_id?: SessionId
  /** The id of the first session in the chain. */
  chain_id: SessionId
  link?: Link
  forked_from?: ForkOrigin

  // Metadata
  cwd?: string
  branch?: string
  model?: string
  commits?: string[]
}

export interface ForkOrigin {
  session: SessionId
  turn?: number
}

/** A part of a work unit's plan, as this session worked on it. */
export interface Step {
  step_ref: string
  molecule_id?: string
  started_at: Instant
  completed_at?: Instant
  success?: boolean
}

/** A note on a turn, a pin, or both. The snapshots of a marked turn do not expire. */
export interface TurnMark {
  /** Its number in `skein turns`. */
  turn: number
  note?: string
  is_pinned?: true
  /** When it was last changed. */
  at: Instant
}

/** One tool invocation. Arguments and result are already privacy-filtered. */
export interface ToolCall {
  timestamp: Instant
  tool: string
  arguments?: Record<string, unknown>
  result?: string
  duration_ms?: number
  success: boolean
}

/** One prompt up to its final reply. */
export interface Turn {
  session: SessionId
  number: number
  prompt?: string
  reply?: string
  started_at: Instant
  ended_at?: Instant
  tool_calls?: ToolCall[]
}

/** How a session stands to others. Logs are read in any order, so what comes before a session may be found after it. */
export type Lineage = Pick<Session, 'parent_id' | 'child_id' | 'chain_id' | 'link' | 'forked_from'>

/** The facts a caller may state when a session starts; the rest is derived. */
export type SessionFacts = Pick<
  Session,
  | 'tool'
  | 'title'
  | 'log_title'
  | 'tmux_session'
  | 'agent'
  | 'agent_id'
  | 'rig'
  | 'role'
  | 'topic'
  | 'sender'
  | 'work_unit'
  | 'molecule_id'
  | 'step_ref'
  | 'cwd'
  | 'branch'
  | 'model'
  | 'commits'
  | 'source'
>

export const isActive = (session: Session): boolean => session.outcome === undefined

/** Why a session ended whose fork failed and was undone: there never was a conversation of it. */
export const TAKEN_BACK = 'the fork was taken back'

export function durationMs(session: Session, nowMs: number): number {
  const end = session.ended_at === undefined ? nowMs : Date.parse(session.ended_at)
  return Math.max(0, end - Date.parse(session.started_at))
}
