import type { FoundSession } from '../ingest/index.js'
import { type ForkOrigin, instantOf, isActive, laterOf, type Session, type SessionId } from '../model/index.js'
import { filterText, type PurgeFilter } from '../privacy/index.js'
import type { ChangeState, Draft, ProfileStore } from '../store/index.js'
import { type Continuation, FoundLinks, withValues } from '../store/index.js'
import type { Succession } from '../tools/index.js'

/**
 * Sessions that were found in logs: new ones are started, known ones learn what they did not know. Returns how many were new.
 * The purge filter is read under the lock: a purge may have run after the log was read.
 */
export async function recordFound(
  store: ProfileStore,
  {
    found,
    successions,
    commits,
  }: { found: readonly FoundSession[]; successions: readonly Succession[]; commits: ReadonlyMap<string, string[]> },
  {
    nowMs,
    open,
    purgeFilter,
  }: { nowMs: number; open: ReadonlySet<SessionId>; purgeFilter: () => PurgeFilter | undefined },
): Promise<number> {
  return store.change((state) => {
    const purged = purgeFilter()
    const kept = purged ? found.flatMap((one) => remembered(one, purged)) : found
    const unknown = new Set(kept.map((one) => one.id).filter((id) => !state.session(id))).size
    return {
      events: [
        ...discoveries(state, kept, successions, { nowMs, isOpen: (id) => open.has(id) }),
        ...kept.flatMap(({ id }) => commitsOf(id, state.session(id), commits.get(id))),
      ],
      result: () => unknown,
    }
  })
}

/** Commits that it has not got yet, as an event of their own: whatever else is known of the session stays as it is. */
function commitsOf(id: SessionId, known: Session | undefined, commits: readonly string[] = []): Draft[] {
  const more = commits.filter((one) => !known?.commits?.includes(one))
  return more.length === 0
    ? []
    : [{ type: 'session_update', session: id, visibility: 'audit', payload: { commits: more } }]
}

/** The events that tell the journal of sessions found in logs. */
function discoveries(
  state: ChangeState,
  found: readonly FoundSession[],
  successions: readonly Succession[],
  { nowMs, isOpen }: { nowMs: number; isOpen: (session: SessionId) => boolean },
): Draft[] {
  const links = new FoundLinks(state, successions)
  const isFound = new Set(found.map(({ id }) => id))
  // Predecessors first, so that a chain can be handed on within one batch.
  return links.inOrder(found).flatMap((one) => {
    const known = state.session(one.id)
    const place = links.placeOf(one.id)
    if (!known) links.begin(one.id, place)
    const told = discovered(known, one, place, { nowMs, isOpen: isOpen(one.id) })
    const late = known && place ? links.join(known, place) : []
    const next = links.successorOf(one.id)
    const waiting = next && !isFound.has(next) ? state.session(next) : undefined
    const itsPlace = waiting && links.placeOf(waiting.id)
    return [...told, ...late, ...(waiting && itsPlace ? links.join(waiting, itsPlace) : [])]
  })
}

function discovered(
  known: Session | undefined,
  { id, tool, news, last_at, last_turn }: FoundSession,
  place: Continuation | undefined,
  { nowMs, isOpen }: { nowMs: number; isOpen: boolean },
): Draft[] {
  const { title, model, origin, started_at = last_at ?? instantOf(nowMs) } = news
  // No system has such a directory, and the journal takes none: a log of anything must not keep the others from being told.
  const cwd = news.cwd?.includes('\0') ? undefined : news.cwd
  const branch = news.branch === undefined ? undefined : filterText(news.branch).text
  // What its first prompt begins with is better than nothing, and gives way to whatever anybody calls it.
  const shown = title ?? known?.title ?? news.prompt
  const facts = withValues({ tool, cwd, branch, title: shown, log_title: title, model })
  const ended_at = laterOf(last_at ?? started_at, started_at)
  const end: Draft = {
    type: 'session_end',
    session: id,
    visibility: 'audit',
    payload: { ...(last_turn === 'open' ? CUT : LEFT), ended_at },
  }
  if (!known) {
    const forked_from = !place && origin && origin.session !== id ? { forked_from: origin } : {}
    const start: Draft = {
      type: 'session_start',
      session: id,
      visibility: 'audit',
      payload: { ...facts, source: 'log', started_at, chain_id: id, ...forked_from, ...place },
    }
    return isOpen ? [start] : [start, end]
  }
  const { tool: knownTool, cwd: knownCwd, branch: knownBranch } = known
  // What was reported to Skein holds against the log; what came from the log follows it, as if it were read at once.
  const reported = known.source === 'log' ? {} : withValues({ tool: knownTool, cwd: knownCwd, branch: knownBranch })
  // Once the log has named it, another title is one that a person gave.
  const isNamed = known.log_title !== undefined && known.title !== known.log_title
  const payload = { ...facts, ...reported, ...(isNamed ? withValues({ title: known.title }) : {}) }
  const forked_from = place ? undefined : betterOrigin(known, origin)
  const isNews = Object.entries(payload).some(([name, value]) => known[name as keyof Session] !== value)
  const update: Draft[] =
    isNews || forked_from
      ? [{ type: 'session_update', session: id, payload: { ...payload, ...withValues({ forked_from }) } }]
      : []
  // An agent that took it up says itself when it ends.
  if (known.source !== 'log' || known.agent !== undefined) return update
  if (isActive(known)) return isOpen ? update : [...update, end]
  const wentOn = known.ended_at !== undefined && last_at !== undefined && last_at > known.ended_at
  if (!wentOn) return update
  const again: Draft = { type: 'session_resumed', session: id, visibility: 'audit', payload: { resumed_at: last_at } }
  return isOpen ? [...update, again] : [...update, again, end]
}

/** How a session ended that nobody reported. It had answered, or it was in the middle of a turn when its process went. */
const LEFT = { outcome: 'exit', reason: 'no process has it open' }
const CUT = { outcome: 'lost', reason: 'no process has it open, and its last turn has no end' }

/** What the log says now of where a session came from, if it says more than is known. */
function betterOrigin(
  { id, source, parent_id, forked_from }: Session,
  origin: ForkOrigin | undefined,
): ForkOrigin | undefined {
  if (!origin || origin.session === id || parent_id !== undefined) return undefined
  if (!forked_from) return origin
  if (source !== 'log') return undefined
  // Without its origin's log a fork knows no more at which turn it began.
  const isLess =
    origin.session === forked_from.session && (origin.turn === undefined || origin.turn === forked_from.turn)
  return isLess ? undefined : origin
}

function remembered(found: FoundSession, { forgetter, isSessionGone }: PurgeFilter): FoundSession[] {
  if (isSessionGone(found.id)) return []
  const { title, prompt, branch, cwd } = found.news
  const news = forgetter.json(withValues({ title, prompt, branch, cwd })).value as FoundSession['news']
  return [{ ...found, news: { ...found.news, ...news } }]
}
