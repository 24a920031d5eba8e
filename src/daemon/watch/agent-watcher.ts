import {
  type AgentRun,
  type AgentView,
  activityOf,
  endGoneOutside,
  finishCutHandoff,
  finishCutSling,
  hasUnfinishedHandoff,
  hasUnfinishedSling,
  lifeOfRun,
  type Parts,
  sendPending,
  viewsOf,
} from '../../lifecycle/index.js'
import { type Agent, type AgentId, isWithin, parseAgentId, parseGroupPath, SkeinError } from '../../model/index.js'
import type { EventHub } from '../http/event-hub.js'
import { type Notice, nextOf } from '../notices/attention.js'
import { NoticeBook } from '../notices/notice-book.js'
import { Notices } from '../notices/notices.js'
import type { Delivery, Outlets } from '../notices/notifier.js'
import type { NotifySettings, Way } from '../notices/notify-settings.js'
import type { DaemonPlace } from '../place.js'
import { segmentOf } from '../segment.js'
import type { TurnCaptures } from '../snapshots/turn-captures.js'
import { keepSegment } from '../statusline.js'
import { AgentTable } from './agent-table.js'
import { isLookedAtWhenMoved, LookSchedule } from './look-schedule.js'
import type { Observer } from './observer.js'
import { OneAtATime } from './one-at-a-time.js'
import { ScreenMoves } from './screen-moves.js'
import type { TmuxServers } from './tmux-servers.js'
import { WatchedDirectory } from './watched-directory.js'

/** Files of agents are watched; this is for changes that were missed. */
const ROLL_MS = 15_000
/** How often the schedule is asked. */
const TICK_MS = 500
/** At most this many are polled at once by schedule: reports of agents must not wait behind it. */
const ROUTINE_AT_ONCE = 25
/** How often every agent's process is checked to be alive, and quiet screens are checked for changes. */
const ROUNDS_MS = 1_500

export interface AgentWatcherOptions {
  readonly parts: Parts
  readonly observer: Observer
  readonly hub: EventHub
  readonly place: DaemonPlace
  readonly servers: TmuxServers
  readonly outlets: Omit<Outlets, 'announce'>
  /** Takes snapshots of their turns. */
  readonly captures: TurnCaptures
  notify(): Promise<NotifySettings>
  readonly say: (line: string) => void
}

/**
 * Watches all agents of the profile, and publishes what they do: to the journal, to tmux, to status lines and to their user.
 * Agents that report are not polled, and polling starts no process.
 */
export class AgentWatcher implements AsyncDisposable {
  #segment: string | undefined
  readonly #table: AgentTable
  readonly #notices: Notices
  readonly #schedule = new LookSchedule()
  readonly #moves = new ScreenMoves()
  readonly #watches: Disposable[] = []
  /** What to look at next, and what has changed since the last notification. */
  readonly #toLook = new Set<AgentId | 'all'>()
  /** Who is due by schedule: looked at when nothing else calls. */
  readonly #routine = new Set<AgentId>()
  readonly #changed = new Set<AgentId | 'all'>()
  #isSpoolFull = false
  /** An agent has become unreachable, or reachable again. */
  #isReachChanged = false
  #complaint = ''
  readonly #looking: OneAtATime
  readonly #telling: OneAtATime
  readonly #sending: OneAtATime
  readonly #handing: OneAtATime
  readonly #noticing: OneAtATime
  readonly #ending: OneAtATime

  private constructor(private readonly options: AgentWatcherOptions) {
    const { parts, place, servers, outlets, say } = options
    this.#table = new AgentTable(parts.home, parts.runs)
    this.#notices = new Notices(
      new NoticeBook(place.notices),
      { ...outlets, announce: (text, how) => servers.announce(text, how) },
      parts.context.clock,
      say,
      () => servers.shown(),
    )
    const failed = (what: string) => (error: unknown) =>
      say(`${what} failed: ${error instanceof Error ? error.message : String(error)}`)
    this.#looking = new OneAtATime(() => this.#look(), failed('observing agents'))
    this.#handing = new OneAtATime(() => this.#finishCut(), failed('finishing handoffs and slings'))
    this.#sending = new OneAtATime(() => this.#sendKept(), failed('sending kept prompts'))
    this.#telling = new OneAtATime(() => this.#tell(), failed('reporting changes'))
    this.#noticing = new OneAtATime(() => this.#noticeMoves(), failed('checking for changed screens'))
    this.#ending = new OneAtATime(() => endGoneOutside(parts), failed('ending sessions'))
  }

  static async open(options: AgentWatcherOptions): Promise<AgentWatcher> {
    const watcher = new AgentWatcher(options)
    watcher.#watch()
    watcher.#changes('all')
    await watcher.#telling.settled()
    watcher.#isSpoolFull = true
    watcher.#looks('all')
    return watcher
  }

  /** `!2 ▶3` */
  get segment(): string {
    return this.#segment ?? ''
  }

  /** The agent to go to now, if any. */
  async next(): Promise<AgentView | undefined> {
    await this.#lookAtEnded()
    const next = nextOf(this.#table.seen())
    return next && (await this.#viewsOf(({ id }) => id === next.id))[0]
  }

  list({ group, all = false }: { group?: string; all?: boolean } = {}): Promise<AgentView[]> {
    const path = group === undefined ? undefined : parseGroupPath(group)
    return this.#viewsOf(
      (agent, run) => (path === undefined || isWithin(agent.address, path)) && (all || run?.archived_at === undefined),
    )
  }

  async tell(notice: Notice): Promise<void> {
    const settings = await this.#settings()
    if (settings) this.#notices.tell(notice, settings)
  }

  /** Agents whose screen some terminal shows now. */
  shown(): Promise<ReadonlySet<AgentId>> {
    return this.options.servers.shown()
  }

  async tryNotice(ways: readonly Way[] | undefined): Promise<Delivery[]> {
    const settings = await this.options.notify()
    return this.#notices.try(ways ?? settings.by, settings)
  }

  async #viewsOf(isWanted: (agent: Agent, run: AgentRun | undefined) => boolean): Promise<AgentView[]> {
    await this.#table.forgetPurged()
    await this.#lookAtEnded()
    const wanted = this.#table.observed().filter(({ agent, run }) => isWanted(agent, run))
    return viewsOf(this.options.parts, wanted)
  }

  /** tmux may tell late that a process has ended: whoever asks until then would be shown what it did before. */
  async #lookAtEnded(): Promise<void> {
    const ended = this.#ended()
    if (ended.length === 0) return
    this.#table.saw(await this.options.observer.look(new Set(ended)))
    for (const agent of ended) this.#changes(agent)
    await this.#telling.settled()
  }

  #ended(): AgentId[] {
    const gone = ({ run }: AgentRun): boolean =>
      run?.ended_at === undefined && run !== undefined && lifeOfRun(run) === 'dead'
    return this.#table
      .runs()
      .filter(gone)
      .map(({ agent }) => agent)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch[Symbol.dispose]()
    await Promise.all([
      this.#looking.settled(),
      this.#telling.settled(),
      this.#sending.settled(),
      this.#handing.settled(),
      this.#noticing.settled(),
      this.#ending.settled(),
    ])
    await this.#notices.settled()
    await this.options.servers[Symbol.asyncDispose]()
  }

  #watch(): void {
    const { parts, hub, servers, observer } = this.options
    const { spool, agents } = parts.home.paths
    const tick = setInterval(() => {
      for (const id of this.#schedule.due(this.#table.runs(), performance.now())) this.#routine.add(id)
      if (this.#routine.size > 0) this.#looking.ask()
      if (this.#notices.isHolding) void this.#tellHeld()
      if (this.#table.runs().some(mayBeSent)) this.#sending.ask()
      if (this.#table.runs().some((run) => hasUnfinishedHandoff(run) || hasUnfinishedSling(run))) this.#handing.ask()
    }, TICK_MS)
    // tmux reports most deaths at once; asking the system costs one read per agent and misses none.
    const roundsTimer = setInterval(() => {
      for (const agent of this.#ended()) this.#looks(agent)
      this.#noticing.ask()
      this.#ending.ask()
    }, ROUNDS_MS)
    this.#watches.push(
      { [Symbol.dispose]: () => void [tick, roundsTimer].map(clearInterval) },
      new WatchedDirectory(spool, (name) => this.#spools(name), { make: true }),
      new WatchedDirectory(agents, (name) => this.#changes(name === undefined ? 'all' : idIn(name)), {
        make: true,
        lookMs: ROLL_MS,
      }),
      ...observer.registries.map(
        (directory) =>
          new WatchedDirectory(directory, (name) => this.#registers(name), {
            lookMs: ROLL_MS,
            onFound: () => this.#looks('all'),
          }),
      ),
      // Agents come, go and change their address in the roster, which is no file of theirs.
      hub.listen(({ event }) => {
        if (/^(agent_(added|removed|renamed|moved|updated)|group_)/.test(event.type)) this.#changes('all')
      }),
      servers.listen((concerned) => {
        if (concerned === 'all') this.#looks('all')
        else for (const id of concerned) this.#looks(id)
      }),
    )
  }

  #spools(name: string | undefined): void {
    if (name?.startsWith('.')) return // still being written
    this.#isSpoolFull = true
    this.#looking.ask()
  }

  /** Files in a registry are named after the process; one of a process that is not known yet may be any agent's. */
  #registers(name: string | undefined): void {
    const pid = Number.parseInt(name ?? '', 10)
    const running = this.#table.runs().filter(({ run }) => run && run.ended_at === undefined)
    const own = running.filter(({ run }) => run?.pid === pid || run?.program_pid === pid)
    if (own.length > 0) for (const { agent } of own) this.#looks(agent)
    else if (name !== undefined) {
      for (const { agent, status } of running) if (status.source !== 'registry') this.#looks(agent)
    }
  }

  #looks(at: AgentId | 'all'): void {
    this.#toLook.add(at)
    this.#looking.ask()
  }

  async #noticeMoves(): Promise<void> {
    const watched = this.#table.runs().filter(isLookedAtWhenMoved)
    if (watched.length === 0) return
    const activity = await this.options.servers.activity()
    for (const agent of this.#moves.moved(watched, activity)) this.#looks(agent)
  }

  #changes(changed: AgentId | 'all' | undefined): void {
    if (changed === undefined) return
    this.#changed.add(changed)
    this.#telling.ask()
  }

  async #look(): Promise<void> {
    const { observer } = this.options
    const wanted = new Set(this.#toLook)
    this.#toLook.clear()
    if (this.#isSpoolFull) {
      this.#isSpoolFull = false
      for (const id of await observer.take()) wanted.add(id)
      if (!observer.isSpoolEmpty()) this.#spools(undefined)
    }
    if (wanted.size === 0) for (const id of [...this.#routine].slice(0, ROUTINE_AT_ONCE)) wanted.add(id)
    if (wanted.size === 0) return
    const ids = [...wanted].filter((id): id is AgentId => id !== 'all')
    this.#schedule.looked(wanted.has('all') ? this.#table.runs().map(({ agent }) => agent) : ids, performance.now())
    for (const id of ids) this.#routine.delete(id)
    if (this.#routine.size > 0) this.#looking.ask()
    const observed = await observer.look(wanted.has('all') ? undefined : new Set(ids))
    if (!this.#table.saw(observed)) return
    this.#isReachChanged = true
    this.#telling.ask()
  }

  /** Handoffs and slings whose process was killed. One that is still at work on it keeps others out. */
  async #finishCut(): Promise<void> {
    const { parts, say } = this.options
    const cut = this.#table.runs().filter((run) => hasUnfinishedHandoff(run) || hasUnfinishedSling(run))
    for (const run of cut) {
      const agent = (await parts.home.roster.agents()).find((one) => one.id === run.agent)
      if (!agent) continue
      const failed = (what: string) => (error: Error) => say(`${what}: ${error.message}`)
      if (hasUnfinishedHandoff(run)) await finishCutHandoff(parts, agent).catch(failed('a handoff'))
      if (hasUnfinishedSling(run)) await finishCutSling(parts, agent).catch(failed('a sling'))
    }
  }

  /** Prompts that were kept for agents which asked something first. One at a time; who is still not ready is tried again. */
  async #sendKept(): Promise<void> {
    const { parts, say } = this.options
    for (const { agent: id } of this.#table.runs().filter(mayBeSent)) {
      const agent = (await parts.home.roster.agents()).find((one) => one.id === id)
      await (agent && sendPending(parts, agent).catch((error: Error) => say(`a kept prompt: ${error.message}`)))
    }
  }

  /** A mistake in the file is reported once, and no notification is sent until it is corrected. */
  async #settings(): Promise<NotifySettings | undefined> {
    try {
      return await this.options.notify()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      if (error.message !== this.#complaint) this.options.say(`notifications are off: ${error.message}`)
      this.#complaint = error.message
      return undefined
    }
  }

  async #tellHeld(): Promise<void> {
    const settings = await this.#settings()
    if (settings) this.#notices.flush(settings)
  }

  readonly #failedCapture = (error: unknown): void =>
    this.options.say(`capturing code failed: ${error instanceof Error ? error.message : String(error)}`)

  async #readEach(ids: readonly (AgentId | 'all')[]): Promise<AgentId[]> {
    const others: AgentId[] = []
    for (const id of ids) if (id !== 'all' && (await this.#table.readOne(id))) others.push(id)
    return others
  }

  async #tell(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    let news = this.#isReachChanged
    this.#isReachChanged = false
    const others = changed.includes('all') ? await this.#table.readAll() : await this.#readEach(changed)
    if (others.length > 0) news = true
    // In the background: a capture must be prompt, and notifications must not wait for it.
    void this.options.captures.saw(this.#table.of(others), this.#table.ids()).catch(this.#failedCapture)
    const isFirst = this.#segment === undefined
    if (!news && !isFirst) return
    const runs = this.#table.runs()
    await this.options.servers.follow(runs.filter(isRunning))
    const seen = this.#table.seen()
    const segment = segmentOf(seen)
    if (segment !== this.#segment) {
      this.#segment = segment
      keepSegment(this.options.place, segment)
      await this.options.servers.publishToAll('@skein_statusline', segment)
    }
    const settings = await this.#settings()
    if (settings) this.#notices.look(seen, settings)
  }
}

/** A prompt was kept for it, and it listens now. */
const mayBeSent = (run: AgentRun): boolean =>
  run.pending_prompt !== undefined && isRunning(run) && activityOf(run.status) === 'quiet'

const isRunning = ({ run }: AgentRun): boolean => run !== undefined && run.ended_at === undefined

function idIn(name: string): AgentId | undefined {
  if (!name.endsWith('.json') || name.startsWith('.')) return undefined
  try {
    return parseAgentId(name.slice(0, -'.json'.length))
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}
