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
import type { CostOptions } from './api.js'
import type { Config } from './config.js'
import type { Surroundings } from './history.js'
import { hasJustLooked } from './last-look.js'
import type { LogStores } from './log-stores.js'
import { withMoments } from './moments.js'
import type { ProfileStore } from './profile-store.js'
import type { SessionBook } from './sessions.js'

/** What the logs tell of model calls. */
export interface UsageLogs {
  /** Every call in them, from their beginnings. */
  scanned(): Promise<Iterable<Call>>
  /** Brings the ledger up to date. */
  refresh(history: HistoryStore): Promise<void>
}

/** What was spent, from the ledger. Loaded without the readers of logs, which are needed only when nobody has looked for a while. */
export class Spending {
  constructor(
    private readonly setup: {
      store: ProfileStore
      sessions: SessionBook
      config: Config
      surroundings: Surroundings
      stores: LogStores
      logs: () => Promise<UsageLogs>
    },
  ) {}

  async cost(options: CostOptions = {}): Promise<CostReport> {
    const { by = 'day', session, noIndex = false } = options
    const { since, until } = withMoments(options, this.setup.store.context.clock.now())
    const { store, sessions, config, surroundings, stores, logs } = this.setup
    const prices = new PriceBook(await config.prices())
    const { zone } = surroundings
    const only = session === undefined ? undefined : (await sessions.find(session)).id
    const needsPlaces = by === 'agent' || by === 'chain' || by === 'work'
    const places = needsPlaces ? await store.ask((index) => index.places()) : undefined
    const placeOf = (session: string): SessionPlace | undefined => places?.get(session)
    const query = { by, zone, placeOf, sinceMs: since && Date.parse(since), untilMs: until && Date.parse(until) }
    if (noIndex) {
      const calls = await (await logs()).scanned()
      return reportCalls(only === undefined ? calls : [...calls].filter((call) => call.session === only), prices, query)
    }
    return stores.withHistory(async (history) => {
      if (!hasJustLooked(history.ledger, store.context.clock.now())) await (await logs()).refresh(history)
      settleLedger(history.ledger, prices, zone)
      if (only !== undefined) return reportCalls(history.ledger.calls('session = ?', only), prices, query)
      return reportLedger(history.ledger, prices, query)
    })
  }
}
