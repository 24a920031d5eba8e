import type { Instant, Outcome, Session } from '../model/index.js'

/** Which sessions to list. Every filter given must hold; newest first. */
export interface SessionQuery {
  /** The agent's address, now or when the session ran. */
  agent?: string
  /** A group path, of the group that the agent is in now; sessions of agents in its sub-groups count too. */
  rig?: string
  tool?: string
  role?: string
  work_unit?: string
  chain_id?: string
  /** Started at or after. */
  since?: Instant
  /** Started before. */
  until?: Instant
  outcome?: Outcome | 'active'
  /** Only sessions that work in one of these directories, or below: an absolute path, and the same with its links followed. */
  directories?: readonly string[]
  /** Only these. */
  ids?: readonly string[]
  /** Only sessions that made one of these commits, by full ids; a session may have a beginning of one. */
  commits?: readonly string[]
  /** Part of the title, whatever the case. */
  title?: string
  /** The beginning of the id, or part of the title. */
  text?: string
  limit?: number
  /** Where the page before ended: its `next_cursor`. */
  cursor?: string
}

export interface SessionPage {
  sessions: Session[]
  /** Present when there is more. */
  next_cursor?: string
}
