import { type FeedEntry, feedOf, isForFeed, type Journal, type Position, tail, WrittenTimes } from '../journal/index.js'
import {
  type AgentAddress,
  type Event,
  type EventId,
  isEventType,
  isKnownType,
  isStateType,
  isWaitToken,
  matchesPattern,
  msOf,
  parseAddress,
  parseInstant,
  parseSessionId,
  type Retention,
  retentionOf,
  SkeinError,
  VISIBILITIES,
  worth,
} from '../model/index.js'
import type { Config } from '../settings/index.js'
import type { EventFilter, EventStats, Events, NewEvent, PolicyReport, PruneReport, TypeDecay } from './event-api.js'
import { withoutPurged } from './kept-words.js'
import { withMoments } from './moments.js'
import type { ProfilePaths } from './paths.js'
import { plainPayload } from './plain-payload.js'
import type { ProfileStore } from './profile-store.js'
import { reportPolicy, showTtl } from './retention-report.js'
import {
  archivePruned,
  autoPruneState,
  emptyReport,
  isPruneDue,
  nextPrune,
  prune,
  rememberRun,
} from './retention-run.js'
import type { StoredSessions } from './sessions.js'

/** Below this share of its worth an event is at risk of being missed soon. */
const AT_RISK_BELOW = 0.25
const DAY_MS = 86_400_000

/** What they say is done again by them, word for word: how an agent was started. */
const REPEATED: ReadonlySet<string> = new Set(['agent_started'])

/** Whoever appends an event says what is in it, and it stays for long. */
async function withoutSecrets(payload: Record<string, unknown>, paths: ProfilePaths): Promise<Record<string, unknown>> {
  const { redactValue } = await import('../privacy/index.js') // most commands append nothing
  return withoutPurged(withOwnTokens(payload, redactValue(payload, {}) as Record<string, unknown>), paths)
}

/** The name of the field alone made them look like secrets: an answer needs them as they are. */
function withOwnTokens(given: unknown, redacted: Record<string, unknown>): Record<string, unknown> {
  const { token, asks } = given as Record<string, unknown>
  const kept = redacted.asks
  return {
    ...redacted,
    ...(isWaitToken(token) ? { token } : {}),
    ...(Array.isArray(asks) && Array.isArray(kept) && kept.length === asks.length
      ? { asks: kept.map((ask, at) => (isRecord(ask) && isRecord(asks[at]) ? withOwnTokens(asks[at], ask) : ask)) }
      : {}),
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The journal as users see it. */
export class StoredEvents implements Events {
  constructor(
    private readonly store: ProfileStore,
    private readonly config: Config,
    private readonly sessions: StoredSessions,
  ) {}

  async append({ type, session, agent, payload = {}, visibility, ts }: NewEvent): Promise<Event> {
    if (!isEventType(type)) {
      throw new SkeinError(
        'bad-input',
        `${JSON.stringify(String(type).slice(0, 80))} is not an event type`,
        'Use lower-case letters, digits, "_" and ".", like mail or build.failed',
      )
    }
    if (isStateType(type)) {
      throw new SkeinError(
        'bad-input',
        `${type} changes sessions or the roster and cannot be appended directly`,
        'Use the session, agents and group commands',
      )
    }
    if (visibility && !VISIBILITIES.includes(visibility)) {
      throw new SkeinError('bad-input', `"${visibility}" is not a visibility`, `Use one of ${VISIBILITIES.join(', ')}`)
    }
    const plain = plainPayload(payload)
    const draft = {
      type,
      session: session === undefined ? undefined : parseSessionId(session),
      agent: agent === undefined ? undefined : parseAddress(agent),
      payload: REPEATED.has(type) ? plain : await withoutSecrets(plain, this.store.paths),
      visibility,
      ts: ts === undefined ? undefined : (parseInstant(String(ts)) ?? ts),
    }
    return this.store.change(() => ({ events: [draft], result: ([event]) => event as Event }))
  }

  async read({ last, ...filter }: EventFilter & { last?: number } = {}): Promise<Event[]> {
    const matches = await this.#matcher(filter)
    if (last !== undefined) return newest(this.store.journal, matches, last).events
    const events: Event[] = []
    for (const batch of this.store.journal.read()) {
      for (const event of batch.events) if (matches(event)) events.push(event)
    }
    return events
  }

  async *tail({
    last = 0,
    after,
    signal = new AbortController().signal,
    ...filter
  }: EventFilter & { last?: number; after?: EventId; signal?: AbortSignal }): AsyncIterable<Event> {
    const { journal } = this.store
    const matches = await this.#matcher(filter)
    let from: { position: Position; after?: EventId }
    if (after === undefined) {
      const { events, position, lastId } = newest(journal, matches, last)
      yield* events
      from = { position, ...(lastId ? { after: lastId } : {}) }
    } else from = { position: journal.placeOf(after), after }
    for await (const event of tail(journal, from, signal)) {
      if (matches(event)) yield event
    }
  }

  async #matcher(given: EventFilter): Promise<(event: Event) => boolean> {
    const filter = withMoments(given, this.store.context.clock.now())
    const { agent } = filter
    return matcher(agent === undefined ? filter : { ...filter, agent: await this.sessions.addressMeant(agent) })
  }

  async lastId(): Promise<EventId | undefined> {
    return newest(this.store.journal, () => false, 0).lastId
  }

  async feed(filter: EventFilter & { last?: number } = {}): Promise<FeedEntry[]> {
    return feedOf(await this.read({ ...filter, feed: true }))
  }

  async stats(): Promise<EventStats> {
    const policy = await this.config.retention()
    const nowMs = this.store.context.clock.now()
    const { journal } = this.store
    const stats: EventStats = {
      events: 0,
      bytes: 0,
      segments: journal.segments().length,
      unreadable_lines: 0,
      unknown_types: 0,
      by_type: Object.create(null), // a type may be called `constructor`
      by_age: { '0-1d': 0, '1-7d': 0, '7-30d': 0, '30d+': 0 },
      at_risk: 0,
      expired: 0,
      auto_prune: autoPruneState(this.store),
    }
    const next = nextPrune(this.store, policy)
    if (next) stats.auto_prune.next_prune_time = next
    for (const batch of journal.read()) {
      stats.unreadable_lines += batch.unreadable
      const written = new WrittenTimes(journal, batch.position.segment, nowMs)
      for (const event of batch.events) {
        const ageMs = nowMs - msOf(event.ts)
        const left = worth(written.ageOf(event), retentionOf(event.type, policy))
        stats.events += 1
        stats.by_type[event.type] = (stats.by_type[event.type] ?? 0) + 1
        stats.by_age[ageBand(ageMs)] += 1
        if (!isKnownType(event.type)) stats.unknown_types += 1
        const archive = event.type === 'archive_pruned' ? archivePruned(event) : undefined
        if (archive) stats.auto_prune.archive = archive
        if (left === 0) stats.expired += 1
        else if (left < AT_RISK_BELOW) stats.at_risk += 1
        stats.oldest_event =
          stats.oldest_event === undefined || event.ts < stats.oldest_event ? event.ts : stats.oldest_event
        stats.newest_event =
          stats.newest_event === undefined || event.ts > stats.newest_event ? event.ts : stats.newest_event
      }
    }
    stats.bytes = journal.bytes()
    return stats
  }

  async decay(): Promise<TypeDecay[]> {
    const policy = await this.config.retention()
    const nowMs = this.store.context.clock.now()
    const types = new Map<string, TypeDecay & { sum: number }>()
    for (const batch of this.store.journal.read()) {
      const written = new WrittenTimes(this.store.journal, batch.position.segment, nowMs)
      for (const event of batch.events) {
        const retention = retentionOf(event.type, policy)
        const left = worth(written.ageOf(event), retention)
        const entry = types.get(event.type) ?? { ...emptyDecay(event.type, retention), sum: 0 }
        entry.events += 1
        entry.sum += left
        entry.lowest_worth = Math.min(entry.lowest_worth, left)
        if (left === 0) entry.expired += 1
        else if (left < AT_RISK_BELOW) entry.at_risk += 1
        types.set(event.type, entry)
      }
    }
    const rounded = (value: number): number => Math.round(value * 1_000) / 1_000
    return [...types.values()]
      .map(({ sum, ...entry }) => ({
        ...entry,
        average_worth: rounded(sum / entry.events),
        lowest_worth: rounded(entry.lowest_worth),
      }))
      .sort((a, b) => b.events - a.events || (a.type < b.type ? -1 : 1))
  }

  async prune({ dryRun = false, auto = false }: { dryRun?: boolean; auto?: boolean } = {}): Promise<PruneReport> {
    const policy = await this.config.retention()
    if (auto && !isPruneDue(this.store, policy)) {
      return emptyReport({ dryRun, skipped: true })
    }
    const report = await prune(this.store, policy, { dryRun })
    const olderThanDays = await this.config.archiveAfterDays()
    if (!dryRun && olderThanDays > 0)
      report.archived_sessions = (await this.sessions.archive({ olderThanDays })).archived
    if (!dryRun) await rememberRun(this.store, report)
    return report
  }

  async policy(): Promise<PolicyReport> {
    return reportPolicy(await this.config.retention(), this.config.file)
  }

  async setTtl(pattern: string, ttl: string): Promise<PolicyReport> {
    await this.config.setTtl(pattern, ttl)
    return this.policy()
  }

  async resetTtls(): Promise<PolicyReport> {
    await this.config.resetTtls()
    return this.policy()
  }
}

function emptyDecay(type: string, { ttlMs, curve }: Retention): TypeDecay {
  return { type, ttl: showTtl(ttlMs), curve, events: 0, average_worth: 0, lowest_worth: 1, at_risk: 0, expired: 0 }
}

function matcher({ type, session, agent, actor, since, until, feed }: EventFilter): (event: Event) => boolean {
  const wanted = agent === undefined ? undefined : (agent.normalize('NFC') as AgentAddress)
  return (event) =>
    (type === undefined || matchesPattern(event.type, type)) &&
    (session === undefined || event.session?.startsWith(session) === true) &&
    (wanted === undefined || event.agent === wanted) &&
    (actor === undefined || event.actor === actor) &&
    (since === undefined || event.ts >= since) &&
    (until === undefined || event.ts < until) &&
    (!feed || isForFeed(event))
}

/** The newest events that match, oldest first, read from the back; and where the journal ended meanwhile. */
function newest(
  journal: Journal,
  matches: (event: Event) => boolean,
  count: number,
): { events: Event[]; position: Position; lastId: Event['id'] | undefined } {
  let found: Event[] = []
  let lastId: Event['id'] | undefined
  const segments = journal.segments()
  const position = { segment: segments.at(-1) ?? 0, offset: 0 }
  for (const segment of segments.reverse()) {
    const here: Event[] = []
    let lastHere: Event['id'] | undefined
    using reader = journal.open(segment, 0)
    for (let batch = reader?.next(); batch; batch = reader?.next()) {
      for (const event of batch.events) {
        if (matches(event)) here.push(event)
        if (lastHere === undefined || event.id > lastHere) lastHere = event.id
      }
    }
    lastId ??= lastHere
    found = [...here, ...found]
    if (found.length >= count && lastId !== undefined) break
  }
  return { events: count === 0 ? [] : found.slice(-count), position, lastId }
}

function ageBand(ageMs: number): keyof EventStats['by_age'] {
  if (ageMs < DAY_MS) return '0-1d'
  if (ageMs < 7 * DAY_MS) return '1-7d'
  return ageMs < 30 * DAY_MS ? '7-30d' : '30d+'
}
