import type { Instant } from './time.js'

/** What a living agent is doing, as far as anyone can tell. */
export const STATUSES = ['starting', 'running', 'waiting', 'idle', 'error', 'stopped', 'asleep', 'unknown'] as const
export type Status = (typeof STATUSES)[number]

/** Where a status was read, best first: later ones are asked only when the earlier ones do not know. */
export const STATUS_SOURCES = ['registry', 'hook', 'event-stream', 'report', 'title', 'pane', 'process'] as const
export type StatusSource = (typeof STATUS_SOURCES)[number]

/** What a waiting agent waits for. `finished` is a reply that nobody has acknowledged: only this one goes by `ack` and `snooze`. */
export const WAITS = ['permission', 'question', 'plan', 'finished'] as const
export type Wait = (typeof WAITS)[number]

/** Why an agent is in `error`, or what keeps it from working; each asks something else of its user. */
export const TROUBLES = [
  'dead-pane',
  'exited',
  'auth',
  'usage-limit',
  'model-unavailable',
  'api-error',
  'tmux-gone',
  'stalled',
  'stuck',
] as const
export type Trouble = (typeof TROUBLES)[number]

/** A status that explains itself: since when, how it is known, and why ("permission prompt: Bash", "exited 3"). */
export interface AgentStatus {
  status: Status
  since: Instant
  source: StatusSource
  reason?: string
  waiting_for?: Wait
  trouble?: Trouble
  /** Names this very wait, or the first of what it asks: `asks[0].token`. An answer that carries another token is refused. */
  token?: string
  /** Everything that it asks now, each to be answered on its own; the one on its screen first. */
  asks?: Ask[]
}

/** What an option of a dialog does. `auto` switches to a mode that no longer asks: never chosen for the user. */
export const OPTION_MEANINGS = ['allow', 'allow-always', 'deny', 'auto', 'other'] as const
export type OptionMeaning = (typeof OPTION_MEANINGS)[number]

/** By its form: a token names a wait and opens nothing, so it is no secret. */
export const isWaitToken = (value: unknown): value is string =>
  typeof value === 'string' && /^(permission|question|plan|finished)-[0-9a-z]{1,11}-[0-9A-Za-z_-]{1,12}$/.test(value)

/** One request of an agent. Its words have been through the filter for secrets. */
export interface Ask {
  /** Names this very request: an answer that carries it acts on this one or on none. */
  token: string
  kind: Wait
  since: Instant
  /** What the agent's program wants to use: `Bash`, `write_file`. */
  tool?: string
  /** What is asked, in full where it is known: the command, the file, the question. */
  what?: string
  options?: { label: string; meaning: OptionMeaning }[]
  /** Another dialog of the same agent is in front of it: it can be answered when that one is. */
  is_queued?: boolean
}

/** How a turn ended: with a reply, by its user, or by an error. */
export interface TurnEnd {
  at: Instant
  how: 'finished' | 'interrupted' | 'failed'
  reason?: string
  trouble?: Trouble
}

/** The reason of an agent's status when its last turn was interrupted, or the beginning of it. */
export const INTERRUPTED = 'interrupted'

/** Whether this record of a status says that a turn was interrupted. */
export const isInterruption = ({ status, reason }: { status?: unknown; reason?: unknown }): boolean =>
  status === 'idle' && typeof reason === 'string' && reason.startsWith(INTERRUPTED)

/** One observation about an agent, as one source made it. A status is decided from these and can be explained by them. */
export interface Evidence {
  source: StatusSource
  at: Instant
  /** What this source takes the agent to be doing. */
  status: Status
  reason?: string
  waiting_for?: Wait
  trouble?: Trouble
  /**
   * What it says about a turn, where that is not plain: `none` is work without a reply to come (a compaction) or a prompt that
   * nothing led to (a start). Without it, work is a turn and the end of work is its reply.
   */
  turn?: 'finished' | 'interrupted' | 'none'
  /** Which rule read it so, with the version of the rules: `claude/permission@1`, `hook:Stop`. */
  rule?: string
}
