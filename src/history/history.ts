import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Archive, type ArchiveKey, originOf } from '../archive/index.js'
import {
  type FoundSession,
  type HistoryCounts,
  type HistoryReading,
  type HistoryStore,
  Ledger,
  type LogSource,
  PriceBook,
  readHistory,
  refreshLedger,
  scanUsage,
  settleLedger,
  type TextStore,
  usageReaders,
} from '../ingest/index.js'
import { isActive, parseSessionId, type SessionId, SkeinError, type Step } from '../model/index.js'
import type { Config, Surroundings } from '../settings/index.js'
import type { ProfileStore, StoredSessions } from '../store/index.js'
import { PurgeList, withMoments } from '../store/index.js'
import {
  type Environment,
  LOG_TOOLS,
  type LoggedTurn,
  type LogRef,
  type LogTool,
  notingUnlisted,
  type Succession,
  type UnlistedDirectory,
} from '../tools/index.js'
import { storedPolicies } from './care/stored-policies.js'
import { recordFound } from './discovered-session.js'
import { withOrigin } from './fork-origin.js'
import type { IngestOptions, IngestReport, SessionHistory, TurnsOptions, WatchOptions } from './history-api.js'
import { noteLook } from './last-look.js'
import type { LogStores } from './log-stores.js'
import { OpenSessions } from './open-sessions.js'
import { completedForks, logOfEntry, type OpenStores, pendingSources } from './pending-logs.js'
import { Policies } from './policies.js'
import { notePolicies } from './policy-note.js'
import { tellRedactions } from './redaction-notices.js'
import type { UsageLogs } from './spending.js'
import { ToldSessions } from './told-session.js'
import { WatchedLogs } from './watched-logs.js'

// Whoever loads the history needs these to open it.
export { Policies, PurgeList }

/** Logs are read in slices of about this size: each is saved, and the process can be interrupted, before the next. */
const SLICE_BYTES = 128 * 1024 * 1024
/** So many sessions without an end are looked at; more are never open at once. */
const MOST_ACTIVE = 10_000
/** Sessions told in one write. */
const ANNOUNCE_BATCH = 2_000
/** Watching can miss a change, and a tool may be installed meanwhile: everything is looked at this often anyway. */
const LOOK_AGAIN_MS = 15_000

/** Where logs cannot be watched, those that were written to lately are looked at this often. */
const POLL_MS = 1_000

/** Silent for this long, a log is taken to be over and is kept compressed; it may go on all the same. */
const QUIET_MS = 3_600_000

/** The same for the log of a session that has ended: one that goes on all the same is not compressed again and again. */
const ENDED_QUIET_MS = 60_000

/** A watcher tells the journal what it filtered no more often than this: else every line of a log might add an event. */
const TELL_REDACTIONS_MS = 600_000

export interface HistorySetup {
  store: ProfileStore
  sessions: StoredSessions
  config: Config
  surroundings: Surroundings
  policies: Policies
  purges: PurgeList
  stores: LogStores
}

type WantedLogs = Pick<IngestOptions, 'tool' | 'session' | 'since'>

interface Look {
  signal?: AbortSignal | undefined
  /** These are all the logs there are. */
  isWholeLook: boolean
  /** The journal is told what was filtered when this is done. */
  tellsRedactions?: boolean
  /** False leaves what was said for later: neither words nor archive. */
  words?: boolean
  onReading?: WatchOptions['onReading'] | undefined
}

/** Reads the tools' logs into the history, and answers from both. Loaded on first use: most commands do without. */
export class LogHistory implements UsageLogs {
  readonly #told: ToldSessions
  readonly #setup: HistorySetup
  #redactionsToldAt = Number.NEGATIVE_INFINITY

  constructor(setup: HistorySetup) {
    this.#setup = setup
    this.#told = new ToldSessions(setup.stores, setup.store.paths.words, setup.purges)
  }

  async ingest(options: IngestOptions = {}): Promise<IngestReport> {
    const { tool, session, signal, force } = options
    const { since } = withMoments(options, this.#setup.store.context.clock.now())
    if (force && session !== undefined) await this.#setup.purges.readmit(await this.#idOf(session))
    const { logs, unlisted } = await this.#discover(options)
    const isWholeLook = tool === undefined && session === undefined && since === undefined
    const look = { signal, isWholeLook, tellsRedactions: true, words: options.words ?? true }
    return withUnlisted(await this.#read(logs, look), unlisted)
  }

  async roots(): Promise<{ tool: string; path: string }[]> {
    const environment = await this.#environment()
    return LOG_TOOLS.flatMap(({ name, roots }) => roots(environment).map((path) => ({ tool: name, path })))
  }

  /** Where the logs of the tools are. */
  async logPaths(): Promise<string[]> {
    return (await this.#discover({})).logs.map(({ path }) => path)
  }

  /** Reads everything that is new, under the policies of this moment. */
  async readAll(): Promise<IngestReport> {
    this.#setup.policies.forget()
    return this.ingest()
  }

  /** Fills a database that was begun anew. */
  async refill(): Promise<void> {
    const { logs } = await this.#discover({})
    await this.#setup.stores.openAll((stores) => this.#readInto(stores, logs, { isWholeLook: true }))
  }

  async watch(options: WatchOptions): Promise<void> {
    const { signal, onReport, onReading, isSetAside = () => false, lookAgainMs = LOOK_AGAIN_MS, ...only } = options
    const isWholeLook = Object.keys(only).length === 0
    const read = async (logs: readonly LogRef[], isWhole: boolean): Promise<IngestReport> => {
      const report = await this.#read(logs, { signal, isWholeLook: isWhole, onReading })
      onReading?.(undefined)
      return report
    }
    await using watched = new WatchedLogs(this.#setup.store.paths.directory)
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const isAskedFor = await this.#wanted(only)
      const isWanted = (log: LogRef): boolean => !isSetAside(log.path) && isAskedFor(log)
      const { logs: all, unlisted } = await this.#discover(only, isWanted)
      watched.watch(all)
      const report = withUnlisted(await read(all, isWholeLook), unlisted)
      if (isFirst || report.read > 0) onReport?.(report)
      const until = performance.now() + lookAgainMs
      for (let left = lookAgainMs; left > 0 && !signal.aborted; left = until - performance.now()) {
        const noticed = await watched.next(watched.isBlind ? Math.min(left, POLL_MS) : left, signal)
        if (noticed === 'look again') break
        const changed = (watched.isBlind ? [...noticed, ...this.#recent(all)] : noticed).filter(isWanted)
        if (changed.length === 0 || signal.aborted) continue
        const news = await read(changed, false)
        if (news.read > 0) onReport?.(news)
      }
    }
    await this.#read([], { isWholeLook: false, tellsRedactions: true })
  }

  async turns(reference: string, { verbatim = false }: TurnsOptions = {}): Promise<SessionHistory> {
    const session = await this.#setup.sessions.find(reference)
    const policy = verbatim ? undefined : await this.#setup.policies.at(session.cwd)
    const { told_from, ...told } = await this.#told.tell(session.id, policy)
    const steps = (session.steps ?? []).map((step) => ({ ...step, turns: turnsWithin(step, told.turns) }))
    return { session, from_log: told_from === 'log', told_from, ...told, steps }
  }

  /**
   * Makes turns, tool calls and text anew from the logs and the archive. What neither of them has any more (it was read before there
   * was an archive) is taken over from what was known.
   */
  async rebuild(): Promise<void> {
    if (!this.#setup.stores.isThere()) return // nothing was ever read: then this is not the moment to begin
    const { logs } = await this.#discover({})
    const purged = this.#setup.purges.purgeFilter()?.generation
    await this.#setup.stores.withAll(async ({ history, archive }) => {
      const sources = new Set([...archive.keys(), ...logs.map((log) => archive.keyOf(originOf(log)))].map(nameOf))
      const hasSource = (log: { path: string; part: string; tool: string }): boolean =>
        sources.has(nameOf(archive.keyOf(log)))
      history.forget(history.places().filter(hasSource))
      await this.#setup.stores.replaceText(async (text, old) => {
        if (old) text.adopt(old, (log) => !hasSource(log))
        await this.#readInto({ history, text, archive }, logs, { isWholeLook: true })
        // What was adopted or read before may hold it.
        if (this.#setup.purges.purgeFilter()?.generation !== purged)
          throw new SkeinError('home-busy', 'Something was purged meanwhile', 'Run skein index rebuild again')
      })
    })
  }

  async scanned(): ReturnType<UsageLogs['scanned']> {
    const { logs, unlisted } = await this.#discover({})
    const ledger = new Ledger()
    const { unreadable, unread_counts } = scanUsage(logs.filter(tellsUsage), usageReaders(), (telling) =>
      ledger.tell(telling),
    )
    this.#warnOf([...unlisted, ...unreadable])
    return { calls: ledger.calls(), unreadCounts: unread_counts }
  }

  async refresh({ ledger }: HistoryStore): Promise<void> {
    const { logs, unlisted } = await this.#discover({})
    const readers = usageReaders(this.#setup.purges.purgeFilter()?.forgetter)
    this.#warnOf([...unlisted, ...refreshLedger(ledger, logs.filter(tellsUsage), readers).unreadable])
    noteLook(ledger, this.#setup.store.context.clock.now())
  }

  async counts(session: string): Promise<HistoryCounts> {
    const none = { turns: 0, tool_calls: 0, unread_lines: 0, unknown_records: 0 }
    return this.#setup.stores.askHistory((history) => history.counts(parseSessionId(session)), none)
  }

  async #read(logs: readonly LogRef[], look: Look): Promise<IngestReport> {
    return this.#setup.stores.withAll((stores) => this.#readInto(stores, logs, look))
  }

  async #readInto(
    stores: OpenStores,
    logs: readonly LogRef[],
    { signal, isWholeLook, tellsRedactions = false, words = true, onReading }: Look,
  ): Promise<IngestReport> {
    const report: IngestReport = {
      logs: logs.length,
      read: 0,
      bytes: 0,
      turns: 0,
      tool_calls: 0,
      sessions_found: 0,
      outdated_logs: 0,
      unreadable: [],
    }
    const prices = new PriceBook(await this.#setup.config.prices())
    const { history, archive } = stores
    const { policies, purges } = this.#setup
    const purgeFilter = purges.purgeFilter()
    const into = {
      ...stores,
      policyFor: (cwd: string | undefined) => policies.at(cwd),
      isOver: (log: LogRef) => this.#isQuiet(log.modified_at),
      run: this.#setup.store.context.random.uuid(),
      purgeFilter,
      words,
      onReading: (log: LogRef) => onReading?.(log.path),
      isStopped: () => signal?.aborted ?? false,
      isCurrent: () => purges.purgeFilter()?.generation === purgeFilter?.generation,
    }
    const isGone = ({ log }: LogSource): boolean => purgeFilter?.isLogGone(log.path, log.session ?? '') ?? false
    const pending = pendingSources(logs, stores, { isWholeLook, words }).filter((source) => !isGone(source))
    const total = pending.reduce((sum, { log }) => sum + log.size, 0)
    let done = 0
    const take = (reading: HistoryReading): void => {
      report.read += reading.read
      report.bytes += reading.bytes
      report.turns += reading.turns
      report.tool_calls += reading.tool_calls
      report.unreadable.push(...reading.unreadable)
    }
    for (const slice of slices(pending)) {
      signal?.throwIfAborted()
      const before = done
      const onLog = (reading: HistoryReading): void =>
        this.#setup.store.context.progress({ what: 'reading logs', done: before + reading.bytes, total, unit: 'bytes' })
      take(await readHistory(into, slice, onLog))
      done += slice.reduce((sum, { log }) => sum + log.size, 0)
      this.#setup.store.context.progress({ what: 'reading logs', done, total, unit: 'bytes' })
      await nextTurn()
    }
    if (report.read > 0 && (isWholeLook || pending.some((source) => source.isUnknown)))
      take(await readHistory(into, completedForks(history), () => {}))
    const environment = await this.#environment()
    const open = new OpenSessions(environment, this.#setup.store.context.clock.now())
    report.sessions_found = await this.#announce(history, environment, open)
    if (isWholeLook) await this.#endWhatIsOver(history, open)
    if (tellsRedactions || this.#isTimeToTell()) await this.#tellRedactions(stores.text)
    const filtered = await storedPolicies(stores.text, into.policyFor)
    notePolicies(stores.text, filtered, policies.userFile)
    report.outdated_logs = filtered.outdated
    if (isWholeLook) {
      await this.#sealWhatIsOver(archive)
      noteLook(history.ledger, this.#setup.store.context.clock.now())
    }
    if (pending.length > 0) settleLedger(history.ledger, prices, this.#setup.surroundings.zone)
    return report
  }

  #isTimeToTell(): boolean {
    return performance.now() - this.#redactionsToldAt >= TELL_REDACTIONS_MS
  }

  async #tellRedactions(text: TextStore): Promise<void> {
    await tellRedactions(this.#setup.store, text)
    this.#redactionsToldAt = performance.now()
  }

  /** Compresses what the archive has of logs that are quiet or gone, and of sessions that have ended. */
  async #sealWhatIsOver(archive: Archive): Promise<void> {
    await archive.tidy()
    for (const key of archive.keys().filter((one) => one.is_live)) {
      const entry = archive.entry(key)
      if (!entry) continue
      const { session, modified_at } = entry.standing
      const known = session && (await this.#setup.sessions.get(session))
      const hasEnded = known ? !isActive(known) : false
      const isOver = this.#isQuiet(modified_at, hasEnded ? ENDED_QUIET_MS : QUIET_MS)
      if (isOver || !logOfEntry(entry)) await archive.seal(key)
    }
  }

  /** Logs that are being written to, as they are now. */
  #recent(logs: readonly LogRef[]): LogRef[] {
    const active = logs.filter((log) => !this.#isQuiet(log.modified_at))
    return active.flatMap(({ tool, path, session, stamp }) => {
      const log = toolNamed(tool).logAt(path, session)
      return log && log.stamp !== stamp ? [log] : []
    })
  }

  #isQuiet(modifiedAt: string, forMs = QUIET_MS): boolean {
    return this.#setup.store.context.clock.now() - Date.parse(modifiedAt) > forMs
  }

  /** Tells the journal of the sessions that were found. What a killed process did not get to is told by the next one. */
  async #announce(history: HistoryStore, environment: Environment, opened: OpenSessions): Promise<number> {
    let found = 0
    let successions: Succession[] | undefined
    for (;;) {
      const sessions = history.unannounced(ANNOUNCE_BATCH)
      if (sessions.length === 0) return found
      successions ??= LOG_TOOLS.flatMap((tool) => tool.successions?.(environment) ?? [])
      const copied = history.copied(sessions)
      // What they were copied from, or what was copied from them, may have been told before.
      const companions = history.companions(sessions.filter(({ id }) => copied.has(id)))
      for (const { id } of companions) copied.add(id)
      const told = [...sessions, ...companions].map((session) =>
        copied.has(session.id) ? { ...session, news: withOrigin(history, session) } : session,
      )
      found += await recordFound(
        this.#setup.store,
        { found: told, successions },
        {
          nowMs: this.#setup.store.context.clock.now(),
          open: opened.among(told, opened.areGrowing(told) ? [] : await this.#activeIn(history)),
          purgeFilter: () => this.#setup.purges.purgeFilter(),
        },
      )
      history.markAnnounced(sessions.map((session) => session.log))
    }
  }

  /** Ends the sessions that were open when their logs were read last and are no longer. Their logs will never say so. */
  async #endWhatIsOver(history: HistoryStore, opened: OpenSessions): Promise<void> {
    const active = await this.#activeIn(history)
    const open = opened.among(active)
    const over = active.filter(({ id }) => !open.has(id))
    if (over.length === 0) return
    const nowMs = this.#setup.store.context.clock.now()
    await recordFound(
      this.#setup.store,
      { found: over, successions: [] },
      { nowMs, open, purgeFilter: () => this.#setup.purges.purgeFilter() },
    )
  }

  /** Sessions found in logs that have no end yet, as their logs were read. */
  async #activeIn(history: HistoryStore): Promise<FoundSession[]> {
    const { sessions } = await this.#setup.sessions.query({ outcome: 'active', limit: MOST_ACTIVE })
    return history.foundAgain(sessions.filter(({ source }) => source === 'log').map(({ id }) => id))
  }

  async #discover(
    only: WantedLogs,
    isWanted?: (log: LogRef) => boolean,
  ): Promise<{ logs: LogRef[]; unlisted: UnlistedDirectory[] }> {
    const environment = await this.#environment()
    const tools = only.tool === undefined ? LOG_TOOLS : [toolNamed(only.tool)]
    const { found, unlisted } = notingUnlisted(() => tools.flatMap((one) => one.discover(environment)))
    return { logs: found.filter(isWanted ?? (await this.#wanted(only))), unlisted }
  }

  /** Whose log it is is asked last: the names of some do not tell it. */
  async #wanted({ tool, session, ...time }: WantedLogs): Promise<(log: LogRef) => boolean> {
    const { since } = withMoments(time, this.#setup.store.context.clock.now())
    const wanted = session === undefined ? undefined : await this.#idOf(session)
    return (log) =>
      (tool === undefined || log.tool === tool) &&
      (since === undefined || log.modified_at >= since) &&
      (wanted === undefined || ownerOf(log) === wanted)
  }

  async #environment(): Promise<Environment> {
    const { home, env } = this.#setup.surroundings
    return { home, env, extraRoots: await this.#setup.config.logRoots() }
  }

  /** A session that is not known yet may be asked for by its whole id. */
  async #idOf(reference: string): Promise<SessionId> {
    try {
      return (await this.#setup.sessions.find(reference)).id
    } catch (error) {
      if ((error as { code?: string }).code === 'session-not-found') return parseSessionId(reference)
      throw error
    }
  }

  #warnOf(unreadable: readonly { path: string; reason: string }[]): void {
    const [first] = unreadable
    if (!first) return
    const more = unreadable.length > 1 ? ` and ${unreadable.length - 1} more` : ''
    this.#setup.store.context.warn(
      `Could not read ${first.path} (${first.reason})${more}: the totals lack what is in there`,
    )
  }
}

const withUnlisted = (report: IngestReport, unlisted: readonly UnlistedDirectory[]): IngestReport => ({
  ...report,
  unreadable: [...unlisted, ...report.unreadable],
})

/** The turns that ran at any time between a step's start and its completion. */
function turnsWithin(step: Step, turns: readonly LoggedTurn[]): number[] {
  const isWithin = ({ started_at, ended_at = started_at }: LoggedTurn): boolean =>
    started_at !== undefined &&
    (ended_at ?? started_at) >= step.started_at &&
    (step.completed_at === undefined || started_at <= step.completed_at)
  return turns.filter(isWithin).map((turn) => turn.number)
}

const tellsUsage = (log: LogRef): boolean => LOG_TOOLS.find((tool) => tool.name === log.tool)?.can.usage.yes ?? false

function* slices(sources: readonly LogSource[]): Generator<LogSource[]> {
  let slice: LogSource[] = []
  let bytes = 0
  for (const source of sources) {
    slice.push(source)
    bytes += source.log.size
    if (bytes < SLICE_BYTES && slice.length < 1_000) continue
    yield slice
    slice = []
    bytes = 0
  }
  if (slice.length > 0) yield slice
}

const nameOf = ({ tool, name }: ArchiveKey): string => `${tool}/${name}`

function toolNamed(name: string): LogTool {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (tool) return tool
  throw new SkeinError(
    'bad-input',
    `"${name}" is not a tool whose logs Skein reads`,
    `Use one of ${LOG_TOOLS.map((one) => one.name).join(', ')}`,
  )
}

/** The session that a log is of, or whose sub-agent wrote it. Logs come and go: of one that cannot be read now nothing is known. */
function ownerOf(log: LogRef): SessionId | undefined {
  if (log.session) return log.session
  try {
    const news = toolNamed(log.tool).identify(log)
    return news.spawner?.session ?? news.id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}
