import { join } from 'node:path'
import { type ChargedTo, settledOverrides, spentBySession, spentIn } from '../index/index.js'
import type { Context, Event } from '../model/index.js'
import { onDemand, SkeinError } from '../model/index.js'
import type { Config, Surroundings } from '../settings/index.js'
import type { SnapshotBook } from '../snapshots/index.js'
import type { ProfileStore, StoredEvents, StoredSessions } from '../store/index.js'
import type { ArchiveBook } from './care/archive-api.js'
import type { AuditOptions, PrivacyUpkeep } from './care/privacy-api.js'
import type { LogHistory } from './history.js'
import type { History } from './history-api.js'
import type { LogStores } from './log-stores.js'
import type { Spending } from './spending.js'

export interface HistoryParts {
  /** The home, above the profiles: purges and remembered policies are kept there. */
  readonly root: string
  readonly store: ProfileStore
  readonly sessions: StoredSessions
  readonly events: StoredEvents
  readonly config: Config
  readonly surroundings: Surroundings
  /** The user's own privacy policy. */
  readonly privacyFile: string
  readonly snapshots: SnapshotBook
}

/** What the tools' logs say of one profile. */
export interface OpenHistory {
  readonly history: History
  readonly archive: ArchiveBook
  readonly privacy: PrivacyUpkeep
  /** Derives turns, calls and text again from the logs and the archive. */
  rebuild(): Promise<void>
  /** The native logs of all tools. */
  logPaths(): Promise<string[]>
}

/** Opens the history of a profile. Each question loads what it needs: a list needs neither readers of logs nor rules of privacy. */
export function openHistory(parts: HistoryParts): OpenHistory {
  const { store, sessions } = parts
  const { logged, stores, spending, archive, care } = loaders(parts)
  return {
    rebuild: async () => (await logged()).rebuild(),
    logPaths: async () => (await logged()).logPaths(),
    history: {
      ingest: async (options) => (await logged()).ingest(options),
      watch: async (options) => (await logged()).watch(options),
      roots: async () => (await logged()).roots(),
      turns: async (reference, options) => (await logged()).turns(reference, options),
      ...codeQuestions(parts, logged),
      logTool: async (session, call) => (await logged()).logTool(session, call),
      logPrompt: async (session, sent) => (await logged()).logPrompt(session, sent),
      facts: async (session, fold, options) => (await logged()).facts(session, fold, options),
      counts: async (session) => (await logged()).counts(session),
      search: async (options) => {
        const { WordSearch } = await import('./search.js')
        return new WordSearch(store, sessions, await stores()).search(options)
      },
      ...spendingQuestions(parts, spending),
    },
    archive: {
      list: async (filter) => (await archive()).list(filter),
      stats: async () => (await archive()).stats(),
      verify: async () => (await archive()).verify(),
      restore: async (reference, options) => (await archive()).restore(reference, options),
      prune: async (options) => (await archive()).prune(options),
    },
    privacy: {
      audit: async (options) => (await care()).audit(options),
      stored: async () => (await care()).stored(),
      apply: async (options) => (await care()).apply(options),
      policyAt: async (cwd) => (await care()).policyAt(cwd),
    },
  }
}

/** What the snapshots of turns say together with the logs. */
function codeQuestions(
  { snapshots, sessions, store }: HistoryParts,
  logged: () => Promise<LogHistory>,
): Pick<History, 'codedTurns' | 'blame' | 'explain' | 'bisect' | 'code' | 'expiredSnapshots'> {
  const known = { snapshots, turns: async (id: string) => (await logged()).turns(id) }
  return {
    codedTurns: async (reference, options) => {
      const { session, turns } = await (await logged()).turns(reference, options)
      const { codedTurns } = await import('./coded-turns.js')
      return codedTurns(turns, await snapshots.list(session.id))
    },
    blame: async (file, line) => {
      const { blame } = await import('./blame.js')
      return blame(known, file, line)
    },
    explain: async (directory, rev) => {
      const { explain } = await import('./explain.js')
      return explain({ ...known, sessions }, directory, rev)
    },
    bisect: async (request) => {
      const { bisect } = await import('./bisect/bisect.js')
      const { progress } = store.context
      const onRun = ({ number, most, turn }: { number: number; most: number; turn: number }): void =>
        progress({ what: `run ${number}, after turn ${turn}`, done: number - 1, total: Math.max(most, number) })
      return bisect({ ...known, onRun }, request)
    },
    code: async ({ session, turns }) => {
      const [{ codedTurns }, { sessionCode }] = await Promise.all([
        import('./coded-turns.js'),
        import('./turn-code.js'),
      ])
      const taken = await snapshots.list(session.id)
      return sessionCode(codedTurns(turns, taken), (pairs) => snapshots.changesOf(pairs))
    },
    expiredSnapshots: async (nowMs) => {
      const { expiredSnapshots } = await import('./expired-snapshots.js')
      return expiredSnapshots({ ...known, sessions }, nowMs)
    },
  }
}

/** What was spent, from sums that are made again when prices have changed. */
function spendingQuestions(
  { store, config }: HistoryParts,
  spending: () => Promise<Spending>,
): Pick<History, 'cost' | 'prices' | 'spent' | 'spentWithin'> {
  return {
    cost: async (options) => (await spending()).cost(options),
    prices: async () => (await spending()).prices(),
    spent: async (ids) => {
      if (!store.options.readOnly && (await arePricesOld(store.paths.history, config))) await (await spending()).cost()
      return spentBySession(store.paths.history, ids)
    },
    spentWithin: async (scope, today) => {
      const isAll = Object.keys(scope).length === 0
      const places = isAll ? undefined : await store.ask((index) => index.places())
      const within = places && [...places].filter(([, place]) => isChargedTo(place, scope)).map(([id]) => id)
      const nowMs = today ? store.context.clock.now() : undefined
      const { day = 'total', ...spent } = spentIn(store.paths.history, within, nowMs)
      return { period: day, ...spent }
    },
  }
}

/** The parts of the history, each loaded when it is first asked for. */
function loaders(parts: HistoryParts) {
  const { store, sessions, events, config, surroundings, privacyFile } = parts
  const memory = onDemand(async () => {
    const { PolicyMemory } = await import('./policy-memory.js')
    return new PolicyMemory(join(parts.root, 'project-policies.json'))
  })
  const logged: () => Promise<LogHistory> = onDemand(async () => {
    const { LogHistory, Policies, PurgeList } = await import('./history.js')
    const policies = new Policies(privacyFile, store.context, await memory())
    const purges = new PurgeList(parts.root)
    const { snapshots } = parts
    return new LogHistory({
      store,
      sessions,
      events,
      config,
      surroundings,
      policies,
      purges,
      snapshots,
      stores: await stores(),
    })
  })
  const stores: () => Promise<LogStores> = onDemand(async () => {
    const { LogStores } = await import('./log-stores.js')
    await describe(config, store.context)
    return new LogStores(store, async () => (await logged()).refill())
  })
  const spending: () => Promise<Spending> = onDemand(async () => {
    const { Spending } = await import('./spending.js')
    return new Spending({ store, sessions, config, surroundings, stores: await stores(), logs: logged })
  })
  const archive = onDemand(async () => {
    const { StoredArchive } = await import('./care/archive-care.js')
    return new StoredArchive(store, sessions, config, await stores(), events)
  })
  // A new one for each question: it remembers the policies that it has read, and a policy may change while a home is open.
  const care = async (): Promise<PrivacyUpkeep> => {
    const { StoredPrivacy } = await import('./care/privacy-care.js')
    const audited = (options: AuditOptions): Promise<Event[]> => events.read({ ...options, type: 'privacy_redacted' })
    const setup = { logged, stores, audited, privacyFile, memory: await memory(), zone: () => surroundings.zone }
    return new StoredPrivacy(store, setup)
  }
  return { logged, stores, spending, archive, care }
}

/** A description that cannot be understood must not keep what is stored from being found. */
async function describe(config: Config, { warn }: Context): Promise<void> {
  if (!config.mayDescribeLogs()) return
  try {
    const { describedLogs } = await import('./described-logs.js')
    await describedLogs(config)
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    warn(error.message)
  }
}

/** What was summed up with prices that the user has changed since. Settings that cannot be read must not keep a list from being shown. */
async function arePricesOld(history: string, config: Config): Promise<boolean> {
  const settled = settledOverrides(history)
  try {
    return settled !== undefined && settled !== (await config.pricesKey())
  } catch {
    return false
  }
}

const isChargedTo = (
  place: Pick<ChargedTo, 'agent' | 'group' | 'work'>,
  { agent, group, work }: { agent?: string; group?: string; work?: string },
): boolean => {
  if (agent !== undefined) return place.agent === agent
  if (work !== undefined) return place.work === work
  return group !== undefined && (place.group === group || place.group?.startsWith(`${group}/`) === true)
}
