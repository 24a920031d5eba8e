// Over 400 lines: the one reader and keeper of the stores of logs; reading, watching and rebuilding share them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Archive, type ArchiveKey, originOf } from '../archive/index.js'
import {
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
import {
  type Event,
  type Instant,
  isActive,
  parseSessionId,
  type Session,
  SkeinError,
  type Step,
} from '../model/index.js'
import type { Config, Surroundings } from '../settings/index.js'
import type { SnapshotBook } from '../snapshots/index.js'
import type { Events, ProfileStore, StoredSessions } from '../store/index.js'
import { PurgeList, withMoments, withoutPurged } from '../store/index.js'
import { LOG_TOOLS, type LoggedTurn, type LogRef, type UnlistedDirectory } from '../tools/index.js'
import { storedPolicies } from './care/stored-policies.js'
import { knownEnd, withCutOff } from './cut-off-turns.js'
import { FIRST_LOG_MS, FirstLogs } from './first-logs.js'
import { FoundSessions } from './found-sessions.js'
import { knownDirectories, namesHash, placedNow, unplacedLogs } from './hashed-projects.js'
import type {
  FactsFold,
  FactsOptions,
  IngestOptions,
  IngestReport,
  SessionHistory,
  TurnsOptions,
  WatchOptions,
} from './history-api.js'
import { noteLook } from './last-look.js'
import { LogFinder, logToolNamed } from './log-finder.js'
import type { LogStores } from './log-stores.js'
import { LoggedCommits } from './logged-commits.js'
import { completedForks, logOfEntry, type OpenStores, pendingSources } from './pending-logs.js'
import { Policies } from './policies.js'
import { notePolicies } from './policy-note.js'
import { tellRedactions } from './redaction-notices.js'
import { CALLED, keptCall, keptPrompt, type ReportedCall, withReported } from './reported-calls.js'
import { factsOfSeen, runTurns } from './run-turns.js'
import type { UsageLogs } from './spending.js'
import { withSteps } from './stepped-turns.js'
import { ToldSessions } from './told-session.js'
import { WatchedLogs } from './watched-logs.js'

// Whoever loads the history needs these to open it.
export { Policies, PurgeList }

/** Logs are read in slices of about this size: each is saved, and the process can be interrupted, before the next. */
const SLICE_BYTES = 128 * 1024 * 1024
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
  events: Events
  snapshots: Pick<SnapshotBook, 'existingCommits'>
}

interface Look {
  signal?: AbortSignal | undefined
  /** These are all the logs there are. */
  isWholeLook: boolean
  /** Afterwards, what was filtered is recorded in the journal. */
  tellsRedactions?: boolean
  /** False leaves what was said for later: neither words nor archive. */
  words?: boolean
  onReading?: WatchOptions['onReading'] | undefined
}

/** What `readHistory` reads into. */
type Destination = Parameters<typeof readHistory>[0]

interface Placing {
  into: Destination
  history: HistoryStore
  found: FoundSessions
  report: IngestReport
}

/** Reads the tools' logs into the history, and answers from both. Loaded on first use: most commands do without. */
export class LogHistory implements UsageLogs {
  readonly #told: ToldSessions
  readonly #finder: LogFinder
  readonly #setup: HistorySetup
  readonly #commits: LoggedCommits
  /** Some logs name their directory by a hash that none had when they were read. */
  #mayBePlaced = true
  #redactionsToldAt = Number.NEGATIVE_INFINITY

  constructor(setup: HistorySetup) {
    this.#setup = setup
    this.#finder = new LogFinder(setup)
    this.#commits = new LoggedCommits(setup.snapshots)
    this.#told = new ToldSessions(setup.stores, setup.store.paths.words, setup.purges)
  }

  async ingest(options: IngestOptions = {}): Promise<IngestReport> {
    const { tool, session, signal, force } = options
    const { since } = withMoments(options, this.#setup.store.context.clock.now())
    if (force && session !== undefined) await this.#setup.purges.readmit(await this.#finder.idOf(session))
    const { logs, unlisted } = await this.#finder.find(options)
    const isWholeLook = tool === undefined && session === undefined && since === undefined
    const look = { signal, isWholeLook, tellsRedactions: true, words: options.words ?? true }
    return withUnlisted(await this.#read(logs, look), unlisted)
  }

  async roots(): Promise<{ tool: string; path: string }[]> {
    const environment = await this.#finder.environment()
    return LOG_TOOLS.flatMap(({ name, roots }) => roots(environment).map((path) => ({ tool: name, path })))
  }

  /** Where the logs of the tools are. */
  async logPaths(): Promise<string[]> {
    return (await this.#finder.find({})).logs.map(({ path }) => path)
  }

  /** Reads everything that is new, under the policies of this moment. */
  async readAll(): Promise<IngestReport> {
    this.#setup.policies.forget()
    return this.ingest()
  }

  /** Fills a new database. */
  async refill(): Promise<void> {
    const { logs } = await this.#finder.find({})
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
    const firstLogs = new FirstLogs(this.#finder)
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const isAskedFor = await this.#finder.filterFor(only)
      const isWanted = (log: LogRef): boolean => !isSetAside(log.path) && isAskedFor(log)
      const { logs: all, unlisted } = await this.#finder.find(only, isWanted)
      watched.watch(all)
      const report = withUnlisted(await read(all, isWholeLook), unlisted)
      if (isFirst || report.read > 0) onReport?.(report)
      const paceMs = watched.isBlind ? POLL_MS : isWholeLook ? FIRST_LOG_MS : lookAgainMs
      firstLogs.lookedAt(all)
      const until = performance.now() + lookAgainMs
      for (let left = lookAgainMs; left > 0 && !signal.aborted; left = until - performance.now()) {
        const noticed = await watched.next(Math.min(left, paceMs), signal)
        if (noticed === 'look again' || (isWholeLook && (await firstLogs.haveCome(isWanted)))) break
        const changed = (watched.isBlind ? [...noticed, ...this.#recent(all)] : noticed).filter(isWanted)
        if (changed.length === 0 || signal.aborted) continue
        const news = await read(changed, false)
        if (news.read > 0) onReport?.(news)
      }
    }
    await this.#read([], { isWholeLook: false, tellsRedactions: true })
  }

  async turns(reference: string, options: TurnsOptions = {}): Promise<SessionHistory> {
    const { verbatim = false, readsNew = false, ...read } = options
    const session = await this.#setup.sessions.find(reference)
    const policy = verbatim ? undefined : await this.#setup.policies.at(session.cwd)
    const tell = () => this.#told.tell(session.id, policy, read)
    const first = await tell()
    const isUnread = first.told_from === 'counts' && first.turns.length === 0
    const { told_from, ...logged } = readsNew && isUnread && (await this.#readNew(session)) ? await tell() : first
    // A log has every call that its hooks reported. Only where there is none, the journal is read for them.
    const told = told_from === 'counts' ? withReported(logged, await this.#reported(session)) : logged
    const seen = told_from === 'counts' && told.turns.length === 0 ? await this.#seenTurns(session) : []
    if (seen.length > 0) told.turns = seen
    const steps = (session.steps ?? []).map((step) => ({ ...step, turns: turnsWithin(step, told.turns) }))
    const { before, sub_agents } = told
    const turns = withCutOff(told.turns, await knownEnd(this.#setup.events, session, told.turns))
    const opening = before && withSteps([before], steps)[0]
    const stepped = {
      turns: withSteps(turns, steps),
      ...(opening ? { before: opening } : {}),
      sub_agents: withSteps(sub_agents, steps),
    }
    const from = seen.length > 0 ? 'journal' : told_from
    return { session, from_log: from === 'log', ...told, ...stepped, told_from: from, steps }
  }

  /** Whoever has just had a reply does not wait until the first log of a program is noticed. */
  async #readNew({ id, tool }: Session): Promise<boolean> {
    if (!LOG_TOOLS.some(({ name }) => name === tool)) return false
    try {
      return (await this.ingest({ session: id })).read > 0
    } catch (error) {
      if (error instanceof SkeinError) return false // such as a home that may only be read
      throw error
    }
  }

  async #seenTurns(session: Session): Promise<LoggedTurn[]> {
    return runTurns(await this.#setup.events.read({ type: 'turn_*', session: session.id }), session)
  }

  #reported({ id, started_at }: Session): Promise<Event[]> {
    return this.#setup.events.read({ type: CALLED, session: id, since: started_at })
  }

  async logTool(reference: string, call: ReportedCall): Promise<Event> {
    const { sessions, policies, events } = this.#setup
    const session = await sessions.find(reference)
    const { id, name, ...rest } = keptCall(call, await policies.at(session.cwd))
    const payload = await withoutPurged({ call: id, tool: name, ...rest }, this.#setup.store.paths)
    return events.append({
      type: CALLED,
      session: session.id,
      ...(session.agent ? { agent: session.agent } : {}),
      payload,
    })
  }

  async logPrompt(reference: string, { prompt, at }: { prompt: string; at: Instant }): Promise<Event> {
    const { sessions, policies, events, store } = this.#setup
    const { id, cwd, agent } = await sessions.find(reference)
    const words = keptPrompt(prompt, await policies.at(cwd))
    const payload = await withoutPurged({ at, prompt: words }, store.paths)
    return events.append({ type: 'turn_prompted', session: id, ...(agent ? { agent } : {}), payload })
  }

  async facts<T>(session: string, fold: FactsFold<T>, { log, cwd, after }: FactsOptions = {}): Promise<T | undefined> {
    const id = parseSessionId(session)
    const known = await this.#setup.sessions.get(id)
    const policy = await this.#setup.policies.at(cwd ?? known?.cwd)
    const hint = log && logToolNamed(log.tool).logAt(log.path, id)
    const found = hint ?? (() => this.#finder.find({ session }).then(({ logs }) => logs))
    const told = await this.#told.facts(id, policy, fold, found, after)
    if (told !== undefined || known?.source !== 'run') return told
    const seen = await this.#seenTurns(known)
    // They were filtered before they were stored.
    return seen.length === 0
      ? undefined
      : fold(seen.flatMap(factsOfSeen), { from: 'journal', isPart: false, kept: (fact) => fact })
  }

  /**
   * Makes turns, tool calls and text anew from the logs and the archive. What neither of them has any more (it was read before there
   * was an archive) is taken over from what was known.
   */
  async rebuild(): Promise<void> {
    if (!this.#setup.stores.isThere()) return // nothing was ever read: then this is not the moment to begin
    const { logs } = await this.#finder.find({})
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
          throw new SkeinError('home-busy', 'A purge ran at the same time', 'Run skein index rebuild again')
      })
    })
  }

  async scanned(): ReturnType<UsageLogs['scanned']> {
    const { logs, unlisted } = await this.#finder.find({})
    const ledger = new Ledger()
    const { unreadable, unread_counts } = scanUsage(logs.filter(tellsUsage), usageReaders(), (telling) =>
      ledger.tell(telling),
    )
    this.#warnOf([...unlisted, ...unreadable])
    return { calls: ledger.calls(), unreadCounts: unread_counts }
  }

  async refresh({ ledger }: HistoryStore): Promise<void> {
    const { logs, unlisted } = await this.#finder.find({})
    const readers = usageReaders(this.#setup.purges.purgeFilter()?.forgetter)
    this.#warnOf([...unlisted, ...refreshLedger(ledger, logs.filter(tellsUsage), readers).unreadable])
    noteLook(ledger, this.#setup.store.context.clock.now())
  }

  async counts(session: string): Promise<HistoryCounts> {
    const none = { turns: 0, messages: 0, tool_calls: 0, unread_lines: 0, unknown_records: 0 }
    return this.#setup.stores.askHistory((history) => history.counts(parseSessionId(session)), none)
  }

  async #read(logs: readonly LogRef[], look: Look): Promise<IngestReport> {
    return this.#setup.stores.withAll((stores) => this.#readInto(stores, logs, look))
  }

  async #readInto(stores: OpenStores, logs: readonly LogRef[], look: Look): Promise<IngestReport> {
    const { isWholeLook, words = true } = look
    const { config, policies, surroundings, store } = this.#setup
    const prices = new PriceBook(await config.prices())
    const { history, text, archive } = stores
    const into = this.#destination(stores, look)
    const isGone = ({ log }: LogSource): boolean => into.purgeFilter?.isLogGone(log.path, log.session ?? '') ?? false
    const pending = pendingSources(logs, stores, { isWholeLook, words }).filter((source) => !isGone(source))
    if (namesHash(pending.map(({ log }) => log))) into.directoryOf = await knownDirectories(store)
    const report = await this.#readSlices(into, pending, look.signal)
    report.logs = logs.length
    if (report.read > 0 && (isWholeLook || pending.some((source) => source.isUnknown)))
      count(report, await readHistory(into, completedForks(history), () => {}))
    const found = new FoundSessions(
      { ...this.#setup, commits: this.#commits },
      history,
      await this.#finder.environment(),
    )
    report.sessions_found = await found.announce()
    if (isWholeLook && (report.read > 0 || this.#mayBePlaced)) await this.#place({ into, history, found, report })
    if (isWholeLook) await found.endWhatIsOver()
    if (look.tellsRedactions || this.#isTimeToTell()) await this.#tellRedactions(text)
    const filtered = await storedPolicies(text, into.policyFor)
    notePolicies(text, filtered, policies.userFile)
    report.outdated_logs = filtered.outdated
    if (isWholeLook) {
      await this.#sealWhatIsOver(archive)
      noteLook(history.ledger, store.context.clock.now())
    }
    if (pending.length > 0) settleLedger(history.ledger, prices, surroundings.zone)
    return report
  }

  /** A directory may have become known only now: from another log, or from an agent that was added. */
  async #place({ into, history, found, report }: Placing): Promise<void> {
    this.#mayBePlaced = unplacedLogs(history).length > 0
    if (!this.#mayBePlaced) return
    into.directoryOf = await knownDirectories(this.#setup.store)
    const { again, gone } = placedNow(history, into.directoryOf)
    if (again.length > 0) {
      const { read, unreadable } = await readHistory(into, again, () => {}) // its turns were counted when it was read before
      report.read += read
      report.unreadable.push(...unreadable)
    }
    report.sessions_found += await found.announce()
    await found.complete(gone)
  }

  /** Where a reading goes, and what is kept of it. */
  #destination(stores: OpenStores, { signal, words = true, onReading }: Look): Destination {
    const { policies, purges, store } = this.#setup
    const purgeFilter = purges.purgeFilter()
    return {
      ...stores,
      policyFor: (cwd: string | undefined) => policies.at(cwd),
      isOver: (log: LogRef) => this.#isQuiet(log.modified_at),
      run: store.context.random.uuid(),
      purgeFilter,
      words,
      onReading: (log: LogRef) => onReading?.(log.path),
      isStopped: () => signal?.aborted ?? false,
      isCurrent: () => purges.purgeFilter()?.generation === purgeFilter?.generation,
    }
  }

  /** Each slice is saved before the next is read; between them others get their turn. */
  async #readSlices(
    into: Destination,
    pending: readonly LogSource[],
    signal: AbortSignal | undefined,
  ): Promise<IngestReport> {
    const report = emptyReport()
    const total = pending.reduce((sum, { log }) => sum + log.size, 0)
    const progress = (done: number): void =>
      this.#setup.store.context.progress({ what: 'reading logs', done, total, unit: 'bytes' })
    let done = 0
    for (const slice of slices(pending)) {
      signal?.throwIfAborted()
      const before = done
      count(report, await readHistory(into, slice, (reading) => progress(before + reading.bytes)))
      done += slice.reduce((sum, { log }) => sum + log.size, 0)
      progress(done)
      await nextTurn()
    }
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
      const log = logToolNamed(tool).logAt(path, session)
      return log && log.stamp !== stamp ? [log] : []
    })
  }

  #isQuiet(modifiedAt: string, forMs = QUIET_MS): boolean {
    return this.#setup.store.context.clock.now() - Date.parse(modifiedAt) > forMs
  }

  #warnOf(unreadable: readonly { path: string; reason: string }[]): void {
    const [first] = unreadable
    if (!first) return
    const more = unreadable.length > 1 ? ` and ${unreadable.length - 1} more` : ''
    this.#setup.store.context.warn(
      `Could not read ${first.path} (${first.reason})${more}: the totals do not include it`,
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

const nameOf = ({ tool, name }: ArchiveKey): string => `${tool}/${name}`

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

const emptyReport = (): IngestReport => ({
  logs: 0,
  read: 0,
  bytes: 0,
  turns: 0,
  tool_calls: 0,
  sessions_found: 0,
  outdated_logs: 0,
  unreadable: [],
})

function count(report: IngestReport, reading: HistoryReading): void {
  report.read += reading.read
  report.bytes += reading.bytes
  report.turns += reading.turns
  report.tool_calls += reading.tool_calls
  report.unreadable.push(...reading.unreadable)
}
