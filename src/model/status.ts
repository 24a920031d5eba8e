import type { Instant } from './time.js'

/** What a living agent is doing, as far as anyone can tell. */
export const STATUSES = ['starting', 'running', 'waiting', 'idle', 'error', 'stopped', 'asleep', 'unknown'] as const
export type Status = (typeof STATUSES)[number]

/** Where a status was read, best first: later ones are asked only when the earlier ones do not know. */
export const STATUS_SOURCES = ['registry', 'hook', 'event-stream', 'title', 'pane', 'process'] as const
export type StatusSource = (typeof STATUS_SOURCES)[number]

/** A status that explains itself: since when, how it is known, and why ("permission prompt: Bash", "exited 3"). */
export interface AgentStatus {
  status: Status
  since: Instant
  source: StatusSource
  reason?: string
}
