import {
  type Call,
  type CostReport,
  type HistoryStore,
  PriceBook,
  reportCalls,
  reportLedger,
  type SessionPlace,
  settleLedger,
} from '../ingest/index.js'
import { msOf } from '../model/index.js'
import type { Config, Surroundings } from '../settings/index.js'
import type { ProfileStore, StoredSessions } from '../store/index.js'
import { isInside, spellingsOf, withMoments } from '../store/index.js'
import type { CostOptions, CostSpan } from './history-api.js'
import { hasJustLooked } from './last-look.js'
import type { LogStores } from './log-stores.js'

/** The model calls in the logs. */
export interface UsageLogs {
  /** Every call in them, from their beginnings, and how many records have token counts that could not be read. */
  scanned(): Promise<{ calls: Iterable<Call>; unreadCounts: number }>
  /** Brings the ledger up to date. */
  refresh(history: HistoryStore): Promise<void>
}

const BY_PLACE: ReadonlySet<string> = new Set(['agent', 'chain', 'work', 'project', 'branch', 'group'])
const ONE_OF = 'session in (select value from json_each(?))'

/** What was spent, from the ledger. Loaded without the readers of logs, which are needed only when nobody has looked for a while. */
export class Spending {
  constructor(
    private readonly setup: {
      store: ProfileStore
      sessions: StoredSessions
      config: Config
      surroundings: Surroundings
      stores: LogStores
      logs: () => Promise<UsageLogs>
    },
  ) {}

  async prices(): Promise<PriceBook> {
    return new PriceBook(await this.setup.config.prices())
  }

  async cost(options: CostOptions = {}): Promise<CostReport> {
    const { by = 'day', session, noIndex = false } = options
    const { since, until } = withMoments(options, this.setup.store.context.clock.now())
    const { store, sessions, surroundings, stores, logs } = this.setup
    const prices = await this.prices()
    const { zone } = surroundings
    const { directory } = options
    const needsPlaces = BY_PLACE.has(by) || directory !== undefined
    const places = needsPlaces ? await store.ask((index) => index.places()) : undefined
    const spans = options.spans && spansOf(options.spans)
    const found = spans ? [...spans.keys()] : session === undefined ? undefined : [(await sessions.find(session)).id]
    const isIn = directory === undefined ? undefined : isInside(spellingsOf(directory))
    const inDirectory =
      isIn && places ? [...places].filter(([, place]) => isIn(place.project)).map(([id]) => id) : undefined
    const only = found && inDirectory ? found.filter((id) => inDirectory.includes(id)) : (found ?? inDirectory)
    const placeOf = (session: string): SessionPlace | undefined => places?.get(session)
    const query = { by, zone, placeOf, sinceMs: since && Date.parse(since), untilMs: until && Date.parse(until) }
    if (noIndex) {
      const { calls, unreadCounts } = await (await logs()).scanned()
      const wanted = only && new Set(only)
      const some = wanted ? [...calls].filter((call) => wanted.has(call.session)) : calls
      return reportCalls(within(some, spans), prices, { ...query, unreadCounts })
    }
    return stores.withHistory(async (history) => {
      if (!hasJustLooked(history.ledger, store.context.clock.now())) await (await logs()).refresh(history)
      settleLedger(history.ledger, prices, zone)
      const counted = { ...query, unreadCounts: history.ledger.unreadCounts(only) }
      if (only) {
        const calls = history.ledger.calls(ONE_OF, JSON.stringify(only))
        return reportCalls(within(calls, spans), prices, counted)
      }
      return reportLedger(history.ledger, prices, counted)
    })
  }
}

type Spans = ReadonlyMap<string, readonly { sinceMs: number; untilMs: number }[]>

function spansOf(spans: readonly CostSpan[]): Spans {
  const found = new Map<string, { sinceMs: number; untilMs: number }[]>()
  for (const { session, since, until } of spans) {
    const one = { sinceMs: msOf(since), untilMs: until === undefined ? Number.POSITIVE_INFINITY : msOf(until) }
    found.set(session, [...(found.get(session) ?? []), one])
  }
  return found
}

/** Each call once, also where steps of a session overlap. */
function within(calls: Iterable<Call>, spans: Spans | undefined): Iterable<Call> {
  if (!spans) return calls
  const isIn = ({ session, at_ms }: Call): boolean =>
    spans.get(session)?.some(({ sinceMs, untilMs }) => at_ms >= sinceMs && at_ms < untilMs) ?? false
  return [...calls].filter(isIn)
}
