import { randomBytes, randomUUID } from 'node:crypto'
import { hostname, tmpdir } from 'node:os'
import { DaemonClient, daemonPlace } from './daemon/index.js'
import { type Home, openHome as openHomeWith } from './home/index.js'
import { type Agents, agentsOf, configuredParts } from './lifecycle/index.js'
import { type Context, type Instant, instantOf, parseWhen } from './model/index.js'
import { type InputOf, OPERATIONS, type OperationName, type ResultOf } from './operations/index.js'
import { actorName, answering, homeLocation, socketFacts, surroundings, workingDirectory } from './surroundings.js'

export interface OpenOptions {
  /** Where everything lies. Default: SKEIN_HOME, else Skein's directory under the XDG data directory. */
  home?: string
  /** Default: SKEIN_PROFILE, else `default`. */
  profile?: string
  /** Who changes are recorded for. Default: SKEIN_ACTOR, else the user's name. */
  actor?: string
  /** Called with one line when something was repaired or is not quite right. Default: standard error. */
  onWarning?: (line: string) => void
  /** Called while long work (a rebuild) goes on. */
  onProgress?: Context['progress']
}

/** Opens a Skein home. Close it with `await using`, or by calling its async dispose. */
export async function openHome(options: OpenOptions = {}): Promise<Home> {
  const profile = options.profile ?? (process.env.SKEIN_PROFILE || undefined)
  const userId = process.geteuid?.()
  return openHomeWith({
    ...homeLocation(options.home),
    surroundings: surroundings(),
    cwd: workingDirectory,
    ...(profile === undefined ? {} : { profile }),
    ...(userId === undefined ? {} : { userId }),
    context: contextOf(options),
  })
}

/** The agents of an open home, opened with the same options: to be started, watched and talked to. Close them before the home. */
export async function openAgents(home: Home, options: OpenOptions = {}): Promise<Agents> {
  const { configFile } = homeLocation(options.home)
  const facts = socketFacts(options.home)
  const asks = { answering: answering(new URL('../bin/skein.js', import.meta.url), options.home) }
  return agentsOf(await configuredParts({ home, context: contextOf(options), configFile, facts, ...asks }))
}

/** Runs operations in a daemon. docs/API.md lists them. */
export interface Client {
  /** Throws a `SkeinError` with the code, message and next step that the command line would show. */
  call<Name extends OperationName>(
    operation: Name,
    input: InputOf<Name>,
    options?: { timeoutMs?: number },
  ): Promise<ResultOf<Name>>
}

/** A client of the daemon that runs for a home; undefined when none does. */
export function connect(options: Pick<OpenOptions, 'home' | 'profile' | 'actor'> = {}): Client | undefined {
  const profile = options.profile ?? (process.env.SKEIN_PROFILE || 'default')
  const userId = process.geteuid?.()
  const { root } = homeLocation(options.home)
  const client = DaemonClient.find(daemonPlace({ root, profile, temporary: tmpdir(), userId }), userId)
  const actor = options.actor ?? actorName()
  return (
    client && {
      // The table ties a name to its types; a call by any of the names has the types of all of them.
      call: async (name, input, more) => client.call((await OPERATIONS[name]()) as never, input, { actor, ...more }),
    }
  )
}

/** A moment, for options that take an `Instant`: a text as the command line takes it (`2h`, `2026-01-17`), milliseconds, or a `Date`. */
export function instant(at: string | number | Date): Instant {
  return typeof at === 'string' ? parseWhen(at, Date.now()) : instantOf(Number(at))
}

function contextOf(options: OpenOptions): Context {
  return {
    clock: { now: Date.now },
    random: { bytes: randomBytes, uuid: randomUUID },
    warn: options.onWarning ?? ((line) => process.stderr.write(`skein: ${line}\n`)),
    progress: options.onProgress ?? (() => {}),
    actor: options.actor ?? actorName(),
    host: hostname(),
  }
}

export type * from './home/index.js'
export type { SessionPage, SessionQuery, Spent } from './index/index.js'
export type { CostGroup, CostReport, CostRow, Totals } from './ingest/index.js'
export type { FeedEntry } from './journal/index.js'
export type {
  Agents,
  AgentView,
  Explanation,
  Receipt,
  RecordedScreen,
  SendReceipt,
  StartAgent,
  StartNow,
} from './lifecycle/index.js'
export type {
  Agent,
  AgentAddress,
  AgentId,
  AgentStatus,
  ErrorCode,
  Event,
  EventId,
  ForkOrigin,
  Group,
  GroupPath,
  Instant,
  Link,
  Outcome,
  RosterRow,
  Session,
  SessionId,
  StateEvent,
  StatePayloads,
  Status,
  StatusSource,
  Step,
  ToolCall,
  Turn,
} from './model/index.js'
export {
  LINKS,
  OUTCOMES,
  parseAddress as agentAddress,
  parseAgentId as agentId,
  parseGroupPath as groupPath,
  parseSessionId as sessionId,
  SkeinError,
  STATUS_SOURCES,
  STATUSES,
  summarize,
} from './model/index.js'
export type { InputOf, OperationName, ResultOf } from './operations/index.js'
export type { LoggedSession, LoggedToolCall, LoggedTurn } from './tools/index.js'
