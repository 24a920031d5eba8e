import type { FoundSession } from '../ingest/index.js'
import { instantOf, isActive, type Link, laterOf, type Session, type SessionId } from '../model/index.js'
import { filterText } from '../privacy/index.js'
import type { Succession } from '../tools/index.js'
import { withValues } from './with-values.js'
import type { ChangeState, Draft } from './write-batch.js'

/** The events that tell the journal of sessions found in logs. */
export function discoveries(
  state: ChangeState,
  found: readonly FoundSession[],
  successions: readonly Succession[],
  nowMs: number,
): Draft[] {
  const before = new Map(successions.map((one) => [one.successor, one]))
  const chains = new Map<SessionId, SessionId>()
  const continued = new Set<SessionId>()
  // Predecessors first, so that a chain can be handed on within one batch.
  const inOrder = [...found].sort((a, b) => ((a.news.started_at ?? '') < (b.news.started_at ?? '') ? -1 : 1))
  return inOrder.flatMap((one) => {
    const known = state.session(one.id)
    const link = before.get(one.id)
    const predecessor = link && state.session(link.predecessor)
    const chain = link && (predecessor?.chain_id ?? chains.get(link.predecessor))
    const isFree = link && !predecessor?.child_id && !continued.has(link.predecessor)
    const place: Continuation | undefined =
      link && chain && isFree ? { parent_id: link.predecessor, link: link.link, chain_id: chain } : undefined
    if (!known) chains.set(one.id, place?.chain_id ?? one.id)
    if (!known && place) continued.add(place.parent_id)
    return discovered(known, one, place, nowMs)
  })
}

/** Silent for this long, a session that nobody reported is taken to have been left. */
const QUIET_MS = 3_600_000

/** Where a found session stands behind another. */
interface Continuation {
  parent_id: SessionId
  link: Link
  chain_id: SessionId
}

function discovered(
  known: Session | undefined,
  { id, tool, news, last_at }: FoundSession,
  place: Continuation | undefined,
  nowMs: number,
): Draft[] {
  const { cwd, title, model, origin, started_at = last_at ?? instantOf(nowMs) } = news
  const branch = news.branch === undefined ? undefined : filterText(news.branch).text
  const facts = withValues({ tool, cwd, branch, title, log_title: title, model })
  const isQuiet = last_at === undefined || nowMs - Date.parse(last_at) > QUIET_MS
  const ended_at = laterOf(last_at ?? started_at, started_at)
  const end: Draft = {
    type: 'session_end',
    session: id,
    visibility: 'audit',
    payload: { outcome: 'exit', ended_at, reason: 'its log went quiet' },
  }
  if (!known) {
    const forked_from = !place && origin && origin.session !== id ? { forked_from: origin } : {}
    const start: Draft = {
      type: 'session_start',
      session: id,
      visibility: 'audit',
      payload: { ...facts, source: 'log', started_at, chain_id: id, ...forked_from, ...place },
    }
    return isQuiet ? [start, end] : [start]
  }
  const { tool: knownTool, cwd: knownCwd, branch: knownBranch } = known
  // What was reported to Skein holds against the log; what came from the log follows it, as if it were read at once.
  const reported = known.source === 'log' ? {} : withValues({ tool: knownTool, cwd: knownCwd, branch: knownBranch })
  // Once the log has named it, another title is one that a person gave.
  const isNamed = known.log_title !== undefined && known.title !== known.log_title
  const payload = { ...facts, ...reported, ...(isNamed ? withValues({ title: known.title }) : {}) }
  const isNews = Object.entries(payload).some(([name, value]) => known[name as keyof Session] !== value)
  const update: Draft[] = isNews ? [{ type: 'session_update', session: id, payload }] : []
  if (known.source !== 'log') return update
  if (isActive(known)) return isQuiet ? [...update, end] : update
  const wentOn = known.ended_at !== undefined && last_at !== undefined && last_at > known.ended_at
  if (!wentOn) return update
  const again: Draft = { type: 'session_resumed', session: id, visibility: 'audit', payload: { resumed_at: last_at } }
  return isQuiet ? [...update, again, end] : [...update, again]
}
