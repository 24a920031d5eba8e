import type { Position } from '../journal/index.js'
import type { Agent, Event, EventId, Group, Session, SessionId } from '../model/index.js'
import type { SessionPage, SessionQuery } from './session-query.js'

type Awaitable<T> = T | Promise<T>

/** How far the index has read the journal. */
export interface Cursor {
  position: Position
  id: EventId | undefined
}

/**
 * The derived state, in a form that can be asked. One contract for every backend; its suite is `test/contracts/session-index.ts`.
 * Applying events in one batch or one by one, or again, ends in the same state.
 */
export interface SessionIndex {
  apply(events: readonly Event[]): Awaitable<unknown>
  get(id: SessionId): Awaitable<Session | undefined>
  idsWithPrefix(prefix: string, limit: number): Awaitable<SessionId[]>
  list(query: SessionQuery): Awaitable<SessionPage>
  chain(chainId: SessionId): Awaitable<Session[]>
  forksOf(id: SessionId): Awaitable<Session[]>
  agents(): Awaitable<Agent[]>
  groups(): Awaitable<Group[]>
}
