import type { SessionPage, SessionQuery } from '../index/index.js'
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
import { type AgentLookup, addressMeant, agentMeant, currentSession } from './agent-lookup.js'
import { ask, type Lookup } from './lookup.js'
import type { Chain, SessionTree } from './session-api.js'

/**
 * By id, or by a beginning that fits one session only. With `lookup` also by an agent: then its current session. An address
 * wins over the beginning of an id.
 */
export function* findSession(reference: string, lookup?: AgentLookup): Lookup<Session> {
  const exact = isSessionId(reference) ? yield* sessionAt(reference) : undefined
  if (exact) return exact
  const isAgent = lookup !== undefined && (reference === '.' || (yield* isAddress(reference)))
  const ids = reference === '' || isAgent ? [] : yield* ask((index) => index.idsWithPrefix(reference, 6))
  const [only] = ids
  const session = ids.length === 1 && only ? yield* sessionAt(only) : undefined
  if (session) return session
  if (ids.length > 1) {
    const some = ids.slice(0, 5).join(', ')
    throw new SkeinError(
      'ambiguous-id',
      `"${reference}" fits ${ids.length > 5 ? 'many' : ids.length} sessions: ${some}`,
      'Use more characters of the id',
    )
  }
  return (lookup && (yield* sessionOfAgent(reference, lookup))) ?? (yield* noSession(reference))
}

const sessionAt = (id: SessionId): Lookup<Session | undefined> => ask((index) => index.get(id))

function* isAddress(reference: string): Lookup<boolean> {
  const roster = yield* ask((index) => index.roster())
  return roster.at(reference.normalize('NFC') as AgentAddress) !== undefined
}

function* sessionOfAgent(reference: string, lookup: AgentLookup): Lookup<Session | undefined> {
  let agent: Agent
  try {
    agent = yield* agentMeant(reference, lookup)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'agent-not-found' && reference !== '.') return undefined
    throw error
  }
  const id = yield* currentSession(agent, lookup)
  const session = id && (yield* sessionAt(id))
  if (session) return session
  const next = `See its screen: skein output ${agent.address} --screen`
  throw new SkeinError('session-not-found', `${agent.address} has no session yet`, next)
}

function* noSession(reference: string): Lookup<never> {
  const beginning = reference.slice(0, 4)
  const [nearest] = reference.length >= 4 ? yield* ask((index) => index.idsWithPrefix(beginning, 1)) : []
  const next = nearest ? `Did you mean ${nearest} ? Try: skein sessions show ${nearest}` : 'Try: skein sessions list'
  throw new SkeinError('session-not-found', `No session matches ${JSON.stringify(reference.slice(0, 140))}`, next)
}

/** A list of the sessions of the agent that is meant. */
export function* listOfAgent(query: SessionQuery, reference: string, lookup: AgentLookup): Lookup<SessionPage> {
  const agent = yield* addressMeant(reference, lookup)
  return yield* ask((index) => index.list({ ...query, agent }))
}

/** The chains of a work unit, or the chain of a session. */
export function* chainsMeant(reference: string, lookup: AgentLookup, nowMs: number): Lookup<Chain[]> {
  const ofWork = yield* ask((index) => index.chainsOfWork(reference))
  const chainIds = ofWork.length > 0 ? ofWork : [(yield* findSession(reference, lookup)).chain_id]
  const chains: Chain[] = []
  for (const chainId of chainIds) chains.push(chainOf(yield* ask((index) => index.chain(chainId)), chainId, nowMs))
  return chains
}

/** All sessions that are connected with one. */
export function* treeAround(reference: string, lookup: AgentLookup): Lookup<SessionTree> {
  return yield* treeFrom(yield* rootOf(yield* findSession(reference, lookup)))
}

function chainOf(sessions: Session[], chainId: string, nowMs: number): Chain {
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
function* rootOf(session: Session): Lookup<Session> {
  const seen = new Set<SessionId>([session.id])
  for (let at = session; ; ) {
    const above = at.parent_id ?? at.forked_from?.session
    const next = above && !seen.has(above) ? yield* sessionAt(above) : undefined
    if (!next) return at
    seen.add(next.id)
    at = next
  }
}

/** Deeper than this nothing is nested: whoever reads the tree as JSON, or draws it, needs a stack. */
const DEEPEST_TREE = 200

/** Depth first, forks before what continues it; without recursion, as chains may be of any length. */
function* treeFrom(session: Session): Lookup<SessionTree> {
  const root: SessionTree = { session, forks: [] }
  const seen = new Set<SessionId>([session.id])
  const waiting = yield* branchesOf(session, root, 1)
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { above, depth, session: found, isFork } = next
    if (seen.has(found.id)) continue
    seen.add(found.id)
    const tree: SessionTree = { session: found, forks: [] }
    const isLeftOut = depth > DEEPEST_TREE
    if (isLeftOut) above.more = (above.more ?? 0) + 1
    else if (isFork) above.forks.push(tree)
    else above.continued_by = tree
    // Not as arguments: there may be more of them than a call takes.
    for (const one of yield* branchesOf(found, isLeftOut ? above : tree, depth + 1)) waiting.push(one)
  }
  return root
}

interface NextBranch {
  /** Where it is attached, or counted. */
  above: SessionTree
  depth: number
  session: Session
  isFork: boolean
}

/** The last one is to be followed first. */
function* branchesOf(session: Session, above: SessionTree, depth: number): Lookup<NextBranch[]> {
  const after = session.child_id && (yield* sessionAt(session.child_id))
  const forks = yield* ask((index) => index.forksOf(session.id))
  return [
    ...(after ? [{ above, depth, session: after, isFork: false }] : []),
    ...forks.toReversed().map((fork) => ({ above, depth, session: fork, isFork: true })),
  ]
}
