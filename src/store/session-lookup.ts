import type { SqliteIndex } from '../index/index.js'
import {
  type Agent,
  type AgentAddress,
  durationMs,
  type Instant,
  instantOf,
  isActive,
  isSessionId,
  type Session,
  type SessionId,
  SkeinError,
} from '../model/index.js'
import { type AgentLookup, currentSession, findAgent } from './agent-lookup.js'
import type { Chain, SessionTree } from './session-api.js'

/**
 * By id, or by a beginning that fits one session only. With `lookup` also by an agent: then its current session. An address
 * wins over the beginning of an id.
 */
export function findSession(index: SqliteIndex, reference: string, lookup?: AgentLookup): Session {
  const exact = isSessionId(reference) ? index.get(reference) : undefined
  if (exact) return exact
  const isAgent =
    lookup !== undefined &&
    (reference === '.' || index.roster().at(reference.normalize('NFC') as AgentAddress) !== undefined)
  const ids = reference === '' || isAgent ? [] : index.idsWithPrefix(reference, 6)
  const [only] = ids
  const session = ids.length === 1 && only ? index.get(only) : undefined
  if (session) return session
  if (ids.length > 1) {
    const some = ids.slice(0, 5).join(', ')
    throw new SkeinError(
      'ambiguous-id',
      `"${reference}" fits ${ids.length > 5 ? 'many' : ids.length} sessions: ${some}`,
      'Use more characters of the id',
    )
  }
  return (lookup && sessionOfAgent(index, reference, lookup)) ?? noSession(index, reference)
}

function sessionOfAgent(index: SqliteIndex, reference: string, lookup: AgentLookup): Session | undefined {
  let agent: Agent
  try {
    agent = findAgent(index.roster(), index, reference, lookup)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'agent-not-found' && reference !== '.') return undefined
    throw error
  }
  const id = currentSession(index, agent, lookup)
  const session = id && index.get(id)
  if (session) return session
  const next = `See its screen: skein output ${agent.address} --screen`
  throw new SkeinError('session-not-found', `${agent.address} has no session yet`, next)
}

function noSession(index: SqliteIndex, reference: string): never {
  const [nearest] = reference.length >= 4 ? index.idsWithPrefix(reference.slice(0, 4), 1) : []
  const next = nearest ? `Did you mean ${nearest} ? Try: skein sessions show ${nearest}` : 'Try: skein sessions list'
  throw new SkeinError('session-not-found', `No session matches ${JSON.stringify(reference.slice(0, 140))}`, next)
}

export function chainOf(sessions: Session[], chainId: string, nowMs: number): Chain {
  const ended = sessions.every((session) => !isActive(session))
  const ends = sessions.map((session) => session.ended_at ?? session.started_at).sort()
  const [first] = sessions
  return {
    chain_id: chainId,
    work_units: [...new Set(sessions.map((session) => session.work_unit).filter((unit) => unit !== undefined))],
    sessions,
    started_at: first?.started_at ?? instantOf(nowMs),
    ...(ended && ends.length > 0 ? { ended_at: ends.at(-1) as Instant } : {}),
    duration_ms: sessions.reduce((sum, session) => sum + durationMs(session, nowMs), 0),
  }
}

/** Up through predecessors and fork origins. Records from elsewhere may form a ring, so places seen twice end the walk. */
export function rootOf(index: SqliteIndex, session: Session): Session {
  const seen = new Set<SessionId>([session.id])
  for (let at = session; ; ) {
    const above = at.parent_id ?? at.forked_from?.session
    const next = above && !seen.has(above) ? index.get(above) : undefined
    if (!next) return at
    seen.add(next.id)
    at = next
  }
}

export function treeFrom(index: SqliteIndex, session: Session, seen: Set<SessionId>): SessionTree {
  seen.add(session.id)
  const branch = (next: Session | undefined): SessionTree[] =>
    next && !seen.has(next.id) ? [treeFrom(index, next, seen)] : []
  const forks = index.forksOf(session.id).flatMap(branch)
  const [continued_by] = branch(session.child_id && index.get(session.child_id))
  return { session, ...(continued_by ? { continued_by } : {}), forks }
}
