import type { SessionPage, SessionQuery } from '../index/index.js'
import type { ForkOrigin, Instant, Link, Outcome, Session, SessionFacts } from '../model/index.js'
import type { When } from './moments.js'

export interface StartOptions extends Omit<SessionFacts, 'agent' | 'agent_id'> {
  /** The tool's own id; one is made up when it is not known yet. */
  id?: string
  agent?: string
  /** The session this one continues, and why. */
  parent_id?: string
  link?: Link
  /** Begin at a past turn of another session: a chain of its own. */
  forked_from?: Omit<ForkOrigin, 'session'> & { session: string }
  started_at?: Instant
  /** Open an ended session again under its own id. */
  resume?: boolean
  /** It may be known already, from a log: then what is said here is added where nothing was known. */
  mayExist?: boolean
}

export interface Sessions {
  start(options: StartOptions): Promise<Session>
  end(id: string, options: { outcome: Outcome; reason?: string; ended_at?: Instant }): Promise<Session>
  /** Ends a session and starts its successor as one fact; returns the successor. */
  handoff(id: string, options: StartOptions & { subject?: string; message?: string }): Promise<Session>
  update(id: string, facts: Omit<SessionFacts, 'agent' | 'agent_id'>): Promise<Session>
  step(id: string, step: StepOptions): Promise<Session>
  /** Notes something of a turn, or keeps its snapshots. Whether there is such a turn is for the caller to know. */
  markTurn(id: string, turn: number, marking: TurnMarking): Promise<Session>
  get(id: string): Promise<Session | undefined>
  /** By id, unique prefix, or an agent that is in it; throws `session-not-found` or `ambiguous-id`. */
  find(reference: string): Promise<Session>
  /** Beginnings of these ids that name one session each, short enough for people to read and type. */
  shortIds(ids: readonly string[]): Promise<Map<string, string>>
  query(query: SessionFilter): Promise<SessionPage>
  /** The chains of a session (as in `find`), of a chain id, or of a work unit. */
  chain(reference: string): Promise<Chain[]>
  /** The whole lineage a session belongs to: from its first ancestor, with continuations and forks. */
  tree(reference: string): Promise<SessionTree>
  /** Packs sessions that ended long ago into compressed files. Nothing is deleted. */
  archive(options?: { olderThanDays?: number }): Promise<{ archived: number }>
}

/** As in `SessionQuery`, with moments as the command line takes them and any name of an agent. */
export type SessionFilter = Omit<SessionQuery, 'since' | 'until' | 'directories'> & {
  since?: When
  until?: When
  /** Only sessions that work in this directory, or below. An absolute path. */
  directory?: string
}

export interface StepOptions {
  /** May be left out with `completed`: the one step that is open. */
  step_ref?: string
  molecule_id?: string
  state: 'started' | 'completed'
  /** With `completed`; true unless said otherwise. */
  success?: boolean
}

/** What is absent stays as it is. */
export interface TurnMarking {
  /** Empty to take it away. */
  note?: string
  pinned?: boolean
}

export interface Chain {
  chain_id: string
  work_units: string[]
  sessions: Session[]
  started_at: Instant
  /** Absent while a session of the chain is active. */
  ended_at?: Instant
  /** Time in sessions, summed; an active one counts up to now. */
  duration_ms: number
}

export interface SessionTree {
  session: Session
  /** The session that continues it, if any, and the ones forked from it. */
  continued_by?: SessionTree
  forks: SessionTree[]
  /** How many sessions below it are left out, where the tree is too deep to be written down. */
  more?: number
}
