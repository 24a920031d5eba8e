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
import type { Config, Surroundings } from '../settings/index.js'
import type { ProfileStore, StoredSessions } from '../store/index.js'
import { isInside, spellingsOf, withMoments } from '../store/index.js'
import type { CostOptions } from './history-api.js'
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
    const found = session === undefined ? undefined : [(await sessions.find(session)).id as string]
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
      return reportCalls(some, prices, { ...query, unreadCounts })
    }
    return stores.withHistory(async (history) => {
      if (!hasJustLooked(history.ledger, store.context.clock.now())) await (await logs()).refresh(history)
      settleLedger(history.ledger, prices, zone)
      const counted = { ...query, unreadCounts: history.ledger.unreadCounts(only) }
      if (only) return reportCalls(history.ledger.calls(ONE_OF, JSON.stringify(only)), prices, counted)
      return reportLedger(history.ledger, prices, counted)
    })
  }
}
