import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { explainDiskError } from '../disk/index.js'
import {
  type CostReport,
  type HistoryCounts,
  type HistoryReading,
  HistoryStore,
  Ledger,
  PriceBook,
  readHistory,
  refreshLedger,
  reportCalls,
  reportLedger,
  type SessionPlace,
  scanUsage,
  settleLedger,
  TextStore,
  usageReaders,
} from '../ingest/index.js'
import { parseSessionId, type SessionId, SkeinError, type Step } from '../model/index.js'
import {
  type Environment,
  foldSession,
  LOG_TOOLS,
  type LoggedSession,
  type LoggedTurn,
  type LogRef,
  type LogTool,
  type Succession,
} from '../tools/index.js'
import type { CostOptions, IngestOptions, IngestReport, SessionHistory } from './api.js'
import type { Config } from './config.js'
import { withOrigin } from './fork-origin.js'
import { FILLED_AGAIN } from './paths.js'
import type { Policies } from './policies.js'
import type { ProfileStore } from './profile-store.js'
import type { SessionBook } from './sessions.js'
import { WatchedLogs } from './watched-logs.js'

/** Where the tools of this user keep their logs, and which days are theirs. */
export interface Surroundings extends Omit<Environment, 'extraRoots'> {
  /** IANA name. */
  zone: string
}

/** Logs are read in slices of about this size: each is saved, and the process can be interrupted, before the next. */
const SLICE_BYTES = 128 * 1024 * 1024
/** Sessions told in one write. */
const ANNOUNCE_BATCH = 2_000
/** See `#hasJustLooked`; longer than a watcher waits between two full looks. */
const JUST_LOOKED_MS = 30_000
/** Watching can miss a change, and a tool may be installed meanwhile: everything is looked at this often anyway. */
const LOOK_AGAIN_MS = 15_000

/** Reads the tools' logs into the history, and answers from both. Loaded on first use: most commands do without. */
export class LogHistory {
  constructor(
    private readonly store: ProfileStore,
    private readonly sessions: SessionBook,
    private readonly config: Config,
    private readonly surroundings: Surroundings,
    private readonly policies: Policies,
  ) {}

  async ingest(options: IngestOptions = {}): Promise<IngestReport> {
    const logs = await this.#discover(options)
    const isWholeLook = options.tool === undefined && options.session === undefined && options.since === undefined
    return this.#read(logs, { signal: options.signal, isWholeLook, words: options.words ?? true })
  }

  async watch({
    tool,
    signal,
    onReport,
  }: {
    tool?: string
    signal: AbortSignal
    onReport?: (report: IngestReport) => void
  }): Promise<void> {
    const wanted = tool === undefined ? {} : { tool }
    await using watched = new WatchedLogs()
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const all = await this.#discover(wanted)
      watched.watch(all)
      const report = await this.#read(all, { signal, isWholeLook: tool === undefined })
      if (isFirst || report.read > 0) onReport?.(report)
      const until = performance.now() + LOOK_AGAIN_MS
      for (let left = LOOK_AGAIN_MS; left > 0 && !signal.aborted; left = until - performance.now()) {
        const changed = await watched.next(left, signal)
        if (changed === 'look again') break
        if (changed.length === 0) continue
        const news = await this.#read(changed, { signal })
        if (news.read > 0) onReport?.(news)
      }
    }
  }

  async turns(reference: string): Promise<SessionHistory> {
    const session = await this.sessions.find(reference)
    const logs = (await this.#logsOf(session.id)).map(({ log, tool }) => tool.read(log))
    const told = logs.length > 0 ? foldSession(logs) : await this.#stored(session.id)
    const steps = (session.steps ?? []).map((step) => ({ ...step, turns: turnsWithin(step, told.turns) }))
    return { session, from_log: logs.length > 0, ...told, steps }
  }

  async cost({ by = 'day', since, until, noIndex = false }: CostOptions = {}): Promise<CostReport> {
    const prices = new PriceBook(await this.config.prices())
    const { zone } = this.surroundings
    const needsPlaces = by === 'agent' || by === 'chain' || by === 'work'
    const places = needsPlaces ? await this.store.ask((index) => index.places()) : undefined
    const placeOf = (session: string): SessionPlace | undefined => places?.get(session)
    const query = { by, zone, placeOf, sinceMs: since && Date.parse(since), untilMs: until && Date.parse(until) }
    const usageLogs = async (): Promise<LogRef[]> => (await this.#discover({})).filter(tellsUsage)
    if (noIndex) {
      const logs = await usageLogs()
      const ledger = new Ledger()
      this.#warnOf(scanUsage(logs, usageReaders(), (telling) => ledger.tell(telling)).unreadable)
      return reportCalls(ledger.calls(), prices, query)
    }
    return this.#withHistory(async (history) => {
      if (!this.#hasJustLooked(history)) {
        this.#warnOf(refreshLedger(history.ledger, await usageLogs(), usageReaders()).unreadable)
        this.#noteLook(history)
      }
      settleLedger(history.ledger, prices, zone)
      return reportLedger(history.ledger, prices, query)
    })
  }

  async counts(session: string): Promise<HistoryCounts> {
    if (!this.#hasHistory()) return { turns: 0, tool_calls: 0, unread_lines: 0, unknown_records: 0 }
    return this.#withHistory((history) => history.counts(parseSessionId(session)))
  }

  /** `isWholeLook`: these are all the logs there are. */
  async #read(
    logs: readonly LogRef[],
    {
      signal,
      isWholeLook = false,
      words = true,
    }: { signal: AbortSignal | undefined; isWholeLook?: boolean; words?: boolean },
  ): Promise<IngestReport> {
    const report: IngestReport = {
      logs: logs.length,
      read: 0,
      bytes: 0,
      turns: 0,
      tool_calls: 0,
      sessions_found: 0,
      unreadable: [],
    }
    const prices = new PriceBook(await this.config.prices())
    await this.#withHistory(async (history) => {
      using text = words ? TextStore.open(this.store.paths.text) : undefined
      const place = text && { store: text, policyFor: (cwd: string | undefined) => this.policies.at(cwd) }
      const known = [history.stamps(), ...(text ? [text.stamps()] : [])]
      const isKnown = (log: LogRef): boolean =>
        known.every((stamps) => stamps.get(`${log.path}\0${log.session ?? ''}`) === log.stamp)
      // Oldest first: text that is stored in the order of time is quicker to search.
      const pending = logs.filter((log) => !isKnown(log)).sort((a, b) => (a.modified_at < b.modified_at ? -1 : 1))
      const total = pending.reduce((sum, log) => sum + log.size, 0)
      let done = 0
      for (const slice of slices(pending)) {
        signal?.throwIfAborted()
        const before = done
        const onLog = (reading: HistoryReading): void =>
          this.store.context.progress({ what: 'reading logs', done: before + reading.bytes, total, unit: 'bytes' })
        const reading = await readHistory(history, place, slice, onLog)
        report.read += reading.read
        report.bytes += reading.bytes
        report.turns += reading.turns
        report.tool_calls += reading.tool_calls
        report.unreadable.push(...reading.unreadable)
        done += slice.reduce((sum, log) => sum + log.size, 0)
        this.store.context.progress({ what: 'reading logs', done, total, unit: 'bytes' })
        await nextTurn()
      }
      report.sessions_found = await this.#announce(history)
      if (isWholeLook) this.#noteLook(history)
      if (pending.length > 0) settleLedger(history.ledger, prices, this.surroundings.zone)
    })
    return report
  }

  /**
   * Asking every log of a year whether it has grown takes longer than the answer from the ledger. Within this time nobody asks again:
   * two questions in a row, or a watcher that looks more often than that, make the second one immediate.
   */
  #hasJustLooked({ ledger }: HistoryStore): boolean {
    const age = this.store.context.clock.now() - Number(ledger.fact('looked_at') ?? Number.NEGATIVE_INFINITY)
    return age >= 0 && age < JUST_LOOKED_MS
  }

  #noteLook({ ledger }: HistoryStore): void {
    ledger.setFact('looked_at', String(this.store.context.clock.now()))
  }

  /** Tells the journal of the sessions that were found. What a killed process did not get to is told by the next one. */
  async #announce(history: HistoryStore): Promise<number> {
    let found = 0
    let successions: Succession[] | undefined
    for (;;) {
      const sessions = history.unannounced(ANNOUNCE_BATCH)
      if (sessions.length === 0) return found
      if (!successions) {
        const environment = await this.#environment()
        successions = LOG_TOOLS.flatMap((tool) => tool.successions?.(environment) ?? [])
      }
      const told = sessions.map((session) => ({ ...session, news: withOrigin(history, session) }))
      found += await this.sessions.discover(told, successions, this.store.context.clock.now())
      history.markAnnounced(sessions.map((session) => session.log))
    }
  }

  async #discover({ tool, session, since }: IngestOptions): Promise<LogRef[]> {
    const environment = await this.#environment()
    const tools = tool === undefined ? LOG_TOOLS : [toolNamed(tool)]
    const wanted = session === undefined ? undefined : await this.#idOf(session)
    return tools
      .flatMap((one) => one.discover(environment))
      .filter(
        (log) => (since === undefined || log.modified_at >= since) && (wanted === undefined || log.session === wanted),
      )
  }

  async #environment(): Promise<Environment> {
    const { home, env } = this.surroundings
    return { home, env, extraRoots: await this.config.logRoots() }
  }

  /** A session that is not known yet may be asked for by its whole id. */
  async #idOf(reference: string): Promise<SessionId> {
    try {
      return (await this.sessions.find(reference)).id
    } catch (error) {
      if ((error as { code?: string }).code === 'session-not-found') return parseSessionId(reference)
      throw error
    }
  }

  /** The session's own log first, those of its sub-agents after it; only what still exists. */
  async #logsOf(session: SessionId): Promise<{ log: LogRef; tool: LogTool }[]> {
    const known = this.#hasHistory() ? await this.#withHistory((history) => history.logsOf(session)) : []
    const own = known.findIndex((row) => row.agent === null)
    const wanted = known.filter((row, at) => row.agent !== null || at === own)
    const there = wanted.flatMap(({ path, part, tool: name }) => {
      const tool = LOG_TOOLS.find((one) => one.name === name)
      const log = tool?.logAt(path, part === '' ? undefined : parseSessionId(part))
      return tool && log ? [{ log, tool }] : []
    })
    return there.some(({ log }) => log.agent === undefined) ? there : []
  }

  /** What was counted when the log was still there. */
  async #stored(session: SessionId): Promise<LoggedSession> {
    if (!this.#hasHistory()) return { news: {}, sub_agents: [], counters: [], turns: [] }
    const { turns, calls } = await this.#withHistory((history) => ({
      turns: history.turnRows(session),
      calls: history.callRows(session),
    }))
    const told = turns.filter((row) => row.agent === '' && row.turn > 0)
    return {
      news: {},
      sub_agents: [],
      counters: [],
      turns: told.map((row) => ({
        number: row.turn,
        prompt: '',
        by: row.asked_by as 'person',
        outcome: row.outcome as 'open',
        compacted: row.compacted,
        follows: row.follows,
        live: true,
        copied: row.copied === 1,
        usage: [],
        ...(row.started_at ? { started_at: row.started_at } : {}),
        ...(row.ended_at ? { ended_at: row.ended_at } : {}),
        ...(row.duration_ms === null ? {} : { duration_ms: row.duration_ms }),
        tool_calls: calls
          .filter((call) => call.agent === '' && call.turn === row.turn)
          .map((call) => ({
            id: call.call,
            name: call.name,
            arguments: {},
            ...(call.success === null ? {} : { success: call.success === 1 }),
            ...(call.started_at ? { started_at: call.started_at } : {}),
            ...(call.duration_ms === null ? {} : { duration_ms: call.duration_ms }),
          })),
      })),
    }
  }

  /** Nothing was ever ingested, or nothing can be written here: then nothing is known. */
  #hasHistory(): boolean {
    return !this.store.options.readOnly && existsSync(this.store.paths.history)
  }

  async #withHistory<T>(use: (history: HistoryStore) => T | Promise<T>): Promise<T> {
    try {
      using history = HistoryStore.open(this.store.paths.history)
      return await use(history)
    } catch (error) {
      throw explainDiskError(error, this.store.paths.history, FILLED_AGAIN)
    }
  }

  #warnOf(unreadable: readonly { path: string; reason: string }[]): void {
    const [first] = unreadable
    if (!first) return
    const more = unreadable.length > 1 ? ` and ${unreadable.length - 1} more` : ''
    this.store.context.warn(`Could not read ${first.path} (${first.reason})${more}: the totals lack what is in there`)
  }
}

/** The turns that ran at any time between a step's start and its completion. */
function turnsWithin(step: Step, turns: readonly LoggedTurn[]): number[] {
  const isWithin = ({ started_at, ended_at = started_at }: LoggedTurn): boolean =>
    started_at !== undefined &&
    (ended_at ?? started_at) >= step.started_at &&
    (step.completed_at === undefined || started_at <= step.completed_at)
  return turns.filter(isWithin).map((turn) => turn.number)
}

const tellsUsage = (log: LogRef): boolean => LOG_TOOLS.find((tool) => tool.name === log.tool)?.can.usage.yes ?? false

function* slices(logs: readonly LogRef[]): Generator<LogRef[]> {
  let slice: LogRef[] = []
  let bytes = 0
  for (const log of logs) {
    slice.push(log)
    bytes += log.size
    if (bytes < SLICE_BYTES && slice.length < 1_000) continue
    yield slice
    slice = []
    bytes = 0
  }
  if (slice.length > 0) yield slice
}

function toolNamed(name: string): LogTool {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (tool) return tool
  throw new SkeinError(
    'bad-input',
    `"${name}" is not a tool whose logs Skein reads`,
    `Use one of ${LOG_TOOLS.map((one) => one.name).join(', ')}`,
  )
}
