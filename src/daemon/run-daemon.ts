import { dirname, join } from 'node:path'
import { FileLock, thisProcess } from '../disk/index.js'
import { createProfile, type Home, listProfiles, readSettings } from '../home/index.js'
import {
  type Agents,
  type Answering,
  agentsOf,
  configuredParts,
  type Parts,
  recordShutDown,
  type SocketFacts,
  sweepAllLaunchScripts,
  sweepForks,
} from '../lifecycle/index.js'
import { type Context, containerOf, type Instant, instantOf, SkeinError } from '../model/index.js'
import { parseDaemonSettings } from './daemon-settings.js'
import { HomeGuard, homeDirectory, isThere } from './home-guard.js'
import type { DaemonFacts } from './http/access.js'
import { Api } from './http/api.js'
import { EventHub } from './http/event-hub.js'
import { runApart } from './http/operation-process.js'
import { OperationRoutes } from './http/operation-routes.js'
import { ApiServer } from './http/server.js'
import { RETENTION_MS } from './intake/intake-process.js'
import { LogIntake } from './intake/log-intake.js'
import { retain } from './intake/retain.js'
import { LoopDelay } from './loop-delay.js'
import { parseNotify } from './notices/notify-settings.js'
import { type DaemonPlace, daemonPlace, makePrivate, removeSocket } from './place.js'
import { ProgramGuard } from './program-guard.js'
import { API_VERSION, compareVersions, livingDaemon, removeRecord, writeRecord } from './record.js'
import { TurnCaptures, type TurnCapturesSetup } from './snapshots/turn-captures.js'
import { AgentWatcher, type AgentWatcherOptions } from './watch/agent-watcher.js'
import { BudgetRounds } from './watch/budget-rounds.js'
import { HibernateRounds } from './watch/hibernate-rounds.js'
import { LivePrograms } from './watch/live-programs.js'
import { observerOf } from './watch/observer.js'
import { SilenceRounds } from './watch/silence-rounds.js'
import { TmuxServers } from './watch/tmux-servers.js'
import { TurnCheckpoints } from './watch/turn-checkpoints.js'
import { Watchdog } from './watch/watchdog.js'

/** The one before may be about to end. */
const LOCK_WAIT_MS = 3_000

export interface DaemonOptions {
  readonly facts: DaemonFacts
  readonly profile: string
  readonly context: Context
  /** One line for the log. */
  readonly say: (line: string) => void
  openHome(): Promise<Home>
  /** Where the user's own privacy policy is kept. It need not exist. */
  readonly privacyFile: string
  /** Runs something whose changes are recorded for this actor. */
  as<T>(actor: string | undefined, work: () => Promise<T>): Promise<T>
  readonly socketFacts: SocketFacts
  /** As in `Parts`: agents may be started here. */
  readonly answering?: Answering
  /** As in `Parts`. */
  readonly self?: readonly [string, ...string[]]
  /** Aborted when the process receives a signal to end. */
  readonly signal: AbortSignal
  /** Ends the process at once: its home is gone, and tidying up would make a new one. */
  abandon(why: string): void
}

/** The daemon of one profile, from its start to its end. Resolves with why it ended. */
export async function runDaemon(options: DaemonOptions): Promise<string> {
  const { facts, profile, say } = options
  const place = daemonPlace({ ...facts, profile })
  const root = homeDirectory(facts.root)
  makePrivate(place.directory, facts.userId)
  using lock = new FileLock(place.lock)
  using held = await becomeTheOne(lock, () => isServed(place, facts.version))
  if (!held) return 'another one is already running'
  if (!isThere(root)) return 'its home is gone'
  await using home = await options.openHome()
  const settings = parseDaemonSettings(await readSettings(facts.configFile), facts.configFile)
  using ending = new Ending(options.signal)

  const { hub, running } = await EventHub.open(home, ending.signal)
  const configured = await configuredHere(options, home)
  using programs = new LivePrograms(configured, home, facts.configFile, say)
  const parts = withPrograms(configured, programs)
  await using agents = agentsOf(parts)
  using captures = new TurnCaptures(capturesOf(options, home))
  await using watcher = await AgentWatcher.open(watching(options, { parts, hub, place, captures }))
  await using _rounds = rounds({ parts, hub, watcher, configFile: facts.configFile, say })
  const startedAt = instantOf(options.context.clock.now())
  using delay = new LoopDelay()
  const intake = settings.ingest ? new LogIntake(intakeOf(options, home, ending)) : undefined
  const operations = new OperationRoutes(
    operationContext(options, { home, agents, watcher }),
    facts.version,
    apart(options, ending.signal),
    options.as,
  )
  const health = (): ReturnType<typeof healthOf> => healthOf(options, { startedAt, delay, intake, hub, server })
  const api = new Api({ ...answering(watcher), agents, operations, hub, health, ...stopping(ending) })
  await using server = new ApiServer(
    async (request, response) => {
      await programs.refresh()
      return api.answer(request, response)
    },
    (error) => say(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  )
  makePrivate(dirname(place.socket), facts.userId)
  await server.listen(place.socket)
  const self = thisProcess()
  const { version } = facts
  writeRecord(place, { v: 1, ...self, version, api: API_VERSION, socket: place.socket, started_at: startedAt })
  using _guards = guards(options, { home, place, ending })
  say(`version ${version} runs as process ${self.pid}, listening on ${place.socket}`)

  const failed = sayUnlessEnding(say, ending.signal)
  const work = [running.catch(failed('following the journal'))]
  if (intake) work.push(intake.run().catch(failed('reading logs')))
  // Where logs are read, that process does the retention: it may take longer than anybody should wait for an answer.
  const retention = intake ? [] : [() => retain(home)]
  using _upkeep = everyNowAndThen([() => sweepForks(parts), ...retention], failed('upkeep'))
  await ending.come()
  if (options.signal.aborted) await shutDown(parts, say)
  removeRecord(place, self)
  removeSocket(place)
  await Promise.all(work)
  return ending.why
}

/** What the daemon does for agents by itself, until it ends. */
function rounds(of: {
  parts: Parts
  hub: EventHub
  watcher: AgentWatcher
  configFile: string
  say: DaemonOptions['say']
}): AsyncDisposable {
  const begun = [
    Watchdog.open(of),
    SilenceRounds.open(of),
    new BudgetRounds(of),
    new HibernateRounds(of),
    new TurnCheckpoints(of),
  ]
  return {
    async [Symbol.asyncDispose]() {
      for (const round of begun.reverse()) await round[Symbol.asyncDispose]()
    },
  }
}

/** End the daemon when its home, its record or its program is another one by now. */
function guards(
  { facts, abandon }: DaemonOptions,
  { home, place, ending: { end } }: { home: Home; place: DaemonPlace; ending: Ending },
): Disposable {
  const both = [
    new HomeGuard(homeDirectory(home.directory), abandon, { place, onReplaced: end }),
    new ProgramGuard(facts.program, end),
  ]
  return {
    [Symbol.dispose]() {
      for (const guard of both) guard[Symbol.dispose]()
    },
  }
}

const shutDown = (parts: Parts, say: DaemonOptions['say']): Promise<void> =>
  recordShutDown(parts).catch((error: Error) => say(`recording the end of agents stopped: ${error.message}`))

const sayUnlessEnding = (say: DaemonOptions['say'], ending: AbortSignal) => (what: string) => (error: unknown) => {
  if (!ending.aborted) say(`${what} stopped: ${error instanceof Error ? error.message : String(error)}`)
}

/** That the daemon is to end, and why: the first reason counts. */
class Ending implements Disposable {
  why = 'it was asked to'
  readonly #ending = new AbortController()
  readonly #onSignal = (): void => this.end('it was asked to')

  constructor(private readonly outside: AbortSignal) {
    outside.addEventListener('abort', this.#onSignal)
  }

  get signal(): AbortSignal {
    return this.#ending.signal
  }

  readonly end = (reason: string): void => {
    if (!this.signal.aborted) this.why = reason
    this.#ending.abort()
  }

  come(): Promise<void> {
    return aborted(this.signal)
  }

  [Symbol.dispose](): void {
    this.outside.removeEventListener('abort', this.#onSignal)
  }
}

/** A daemon of this version or a newer one serves the profile. */
function isServed(place: DaemonPlace, version: string): boolean {
  const other = livingDaemon(place)
  return other !== undefined && compareVersions(other.version, version) >= 0
}

async function configuredHere(
  { context, facts, socketFacts, answering, self }: DaemonOptions,
  home: Home,
): Promise<Parts> {
  const { configFile } = facts
  const configured = await configuredParts({
    ...{ home, context, configFile, facts: socketFacts, kept: true },
    ...(answering ? { answering } : {}),
    ...(self ? { self } : {}),
  })
  sweepAllLaunchScripts(configured)
  return configured
}

/** The settings may change while the daemon runs: tools and accounts are asked for anew each time. */
const withPrograms = (configured: Parts, programs: LivePrograms): Parts => ({
  ...configured,
  get runners() {
    return programs.runners
  },
  get environment() {
    return programs.environment
  },
})

function watching(
  { facts, say }: DaemonOptions,
  { parts, hub, place, captures }: Pick<AgentWatcherOptions, 'parts' | 'hub' | 'place' | 'captures'>,
): AgentWatcherOptions {
  return {
    parts,
    observer: observerOf(parts),
    hub,
    place,
    captures,
    servers: new TmuxServers(parts.terminals, say),
    outlets: { platform: facts.platform, env: facts.env },
    notify: async () => parseNotify(await readSettings(facts.configFile), facts.configFile),
    say,
  }
}

const capturesOf = ({ facts, profile, context, say }: DaemonOptions, home: Home): TurnCapturesSetup => ({
  argv: [facts.program, profile, 'capture'],
  home: homeDirectory(home.directory),
  directory: home.paths.snapshots,
  agents: home.paths.agents,
  isOn: async ({ address }) => (await home.programs.turns(containerOf(address))).snapshots,
  now: context.clock.now,
  say,
})

const intakeOf = ({ facts, profile, say }: DaemonOptions, home: Home, { signal }: Ending) => ({
  argv: [facts.program, profile, 'intake'],
  home: homeDirectory(home.directory),
  signal,
  say,
})

function operationContext(
  { facts, profile, context, privacyFile }: DaemonOptions,
  { home, agents, watcher }: { home: Home; agents: Agents; watcher: AgentWatcher },
): ConstructorParameters<typeof OperationRoutes>[0] {
  const directoryOf = (name: string): string => join(facts.root, 'profiles', name)
  return {
    now: context.clock.now,
    home: async () => home,
    agents: async () => agents,
    live: watcher,
    profiles: {
      current: profile,
      list: async () => listProfiles(facts.root).map((name) => ({ name, directory: directoryOf(name) })),
      create: async (name) => ({ name, directory: createProfile(facts.root, name) }),
    },
    configFile: facts.configFile,
    privacyFile,
  }
}

/** How an operation that computes for long is run: by this program, in a process that ends with the daemon. */
const apart =
  ({ facts, profile }: DaemonOptions, ending: AbortSignal): ConstructorParameters<typeof OperationRoutes>[2] =>
  (asked, actor, abandoned) =>
    runApart(
      [facts.program, profile, 'operation'],
      { ...facts.env, ...(actor === undefined ? {} : { SKEIN_ACTOR: actor }) },
      asked,
      AbortSignal.any([abandoned, ending]),
    )

const answering = (watcher: AgentWatcher) => ({
  list: (filter: Parameters<AgentWatcher['list']>[0]) => watcher.list(filter),
  segment: () => watcher.segment,
  next: () => watcher.next(),
  tryNotice: (ways: Parameters<AgentWatcher['tryNotice']>[0]) => watcher.tryNotice(ways),
})

const stopping = (ending: Ending) => ({ stop: () => ending.end('it was asked to'), signal: ending.signal })

interface Vitals {
  startedAt: Instant
  delay: LoopDelay
  intake: LogIntake | undefined
  hub: EventHub
  server: ApiServer
}

const healthOf = ({ facts, profile }: DaemonOptions, { startedAt, delay, intake, hub, server }: Vitals) => ({
  name: 'skein',
  version: facts.version,
  api: API_VERSION,
  pid: process.pid,
  profile,
  home: facts.root,
  started_at: startedAt,
  memory_bytes: process.memoryUsage.rss(),
  event_loop: delay.read(),
  ...(intake ? { ingest: intake.state } : {}),
  connections: server.connections,
  ...(hub.last ? { last_event_id: hub.last } : {}),
})

function everyNowAndThen(works: readonly (() => Promise<unknown>)[], failed: (error: unknown) => void): Disposable {
  const timer = setInterval(() => {
    for (const work of works) void work().catch(failed)
  }, RETENTION_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** The lock ends with its process, so whoever gets it is the only one, whatever the files say. */
async function becomeTheOne(lock: FileLock, isTaken: () => boolean): Promise<Disposable | undefined> {
  const until = performance.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return await lock.hold(0)
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'home-busy') throw error
      if (isTaken() || performance.now() > until) return undefined
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
