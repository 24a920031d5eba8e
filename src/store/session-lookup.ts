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

/** Deeper than this nothing is nested: whoever reads the tree as JSON, or draws it, needs a stack. */
const DEEPEST_TREE = 200

/** What came of a session: forks first, then what continues it. Its own stack, because a chain may be of any length. */
export function treeFrom(index: SqliteIndex, session: Session): SessionTree {
  const root: SessionTree = { session, forks: [] }
  const seen = new Set<SessionId>([session.id])
  const left = branchesOf(index, session, root, 1)
  for (let next = left.pop(); next; next = left.pop()) {
    const { above, depth, id, isFork } = next
    const found = seen.has(id) ? undefined : index.get(id)
    if (!found) continue
    seen.add(id)
    const tree: SessionTree = { session: found, forks: [] }
    const isLeftOut = depth > DEEPEST_TREE
    if (isLeftOut) above.more = (above.more ?? 0) + 1
    else if (isFork) above.forks.push(tree)
    else above.continued_by = tree
    left.push(...branchesOf(index, found, isLeftOut ? above : tree, depth + 1))
  }
  return root
}

/** The last one is to be followed first. */
function branchesOf(index: SqliteIndex, { id, child_id }: Session, above: SessionTree, depth: number): NextBranch[] {
  const forks = index.forksOf(id).map((fork) => ({ above, depth, id: fork.id, isFork: true }))
  return [...(child_id ? [{ above, depth, id: child_id, isFork: false }] : []), ...forks.reverse()]
}

interface NextBranch {
  above: SessionTree
  depth: number
  id: SessionId
  isFork: boolean
}
