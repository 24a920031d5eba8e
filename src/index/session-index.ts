import type { Agent, Group, ItemKind, ItemValues, Roster, Session, SessionId } from '../model/index.js'
import type { SessionPage, SessionQuery } from './session-query.js'
import type { ItemQuery } from './work-rows.js'

export type Awaitable<T> = T | Promise<T>

/** What the calls of a session are charged to besides the session itself; null where there is no such thing. */
export interface ChargedTo {
  agent: string | null
  group: string | null
  chain: string
  work: string | null
  /** Where it worked. */
  project: string | null
  branch: string | null
}

/**
 * The derived state, as readers ask for it: every reader outside the write path. An answer may come at once, from a file, or later, from
 * a server, so readers await each one. One contract for every backend; its suite is `test/contracts/session-index.ts`. Sessions carry
 * the address that their agent has now.
 */
export interface SessionIndex {
  get(id: SessionId): Awaitable<Session | undefined>
  /** In order, at most `limit`. */
  idsWithPrefix(prefix: string, limit: number): Awaitable<SessionId[]>
  /** For each id its shortest beginning, of at least 8 characters, that no other session has. */
  shortIds(ids: readonly string[]): Awaitable<Map<string, string>>
  /** Newest first. */
  list(query: SessionQuery): Awaitable<SessionPage>
  /** Oldest first. */
  chain(chainId: SessionId): Awaitable<Session[]>
  /** Oldest first. */
  forksOf(id: SessionId): Awaitable<Session[]>
  /** The chains that sessions of a work unit belong to, oldest first. */
  chainsOfWork(workUnit: string): Awaitable<SessionId[]>
  /** What the cost of each session is charged to. */
  places(): Awaitable<Map<string, ChargedTo>>
  /** By address. */
  agents(): Awaitable<Agent[]>
  /** By path. */
  groups(): Awaitable<Group[]>
  /** Agents and groups together. Not to be changed. */
  roster(): Awaitable<Roster>
  counts(): Awaitable<{ sessions: number; agents: number }>
  /** A unit of work, a mail, or an agent's record of handoffs; with the address that its agent has now. */
  item<Kind extends ItemKind>(kind: Kind, id: string): Awaitable<ItemValues[Kind] | undefined>
  items<Kind extends ItemKind>(query: ItemQuery & { kind: Kind }): Awaitable<ItemValues[Kind][]>
  countItems(query: Omit<ItemQuery, 'order' | 'limit'>): Awaitable<number>
}
