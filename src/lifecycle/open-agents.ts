import { type Home, readSettings } from '../home/index.js'
import { Spool } from '../journal/index.js'
import type { Context } from '../model/index.js'
import { cleanEnvironment, socketPath, type TmuxSocket } from '../terminal/index.js'
import type { Environment, ToolRunner } from '../tools/index.js'
import { AgentRuns } from './agent-runs.js'
import type { Agents } from './agents.js'
import { sweepForks } from './fork/sweep-forks.js'
import type { Parts } from './parts.js'
import type { Answering } from './prime/hook-run.js'
import { defaultTool, type SocketFacts, tmuxSocket } from './run/tmux-socket.js'
import { RunningAgents } from './running-agents.js'
import { Terminals } from './terminals.js'

export interface OpenAgents {
  readonly home: Home
  readonly context: Context
  readonly environment: Environment
  /** The tmux server for new agents. */
  readonly socket: TmuxSocket
  readonly runners: readonly ToolRunner[]
  readonly defaultTool?: string
  /** Stay connected to tmux, so that no process is started per question: for a process that stays. */
  readonly kept?: boolean
  /** As in `Parts`. */
  readonly answering?: Answering
  /** As in `Parts`. */
  readonly self?: readonly [string, ...string[]]
}

/** The agents of an open home, to be started, watched and talked to. Needs no daemon. */
export const openAgents = (options: OpenAgents): Agents => agentsOf(partsOf(options))

/** For who works with the parts as well, such as the daemon. They are closed with the agents. */
export const agentsOf = (parts: Parts): Agents => new RunningAgents(parts)

export interface ConfiguredAgents {
  readonly home: Home
  readonly context: Context
  readonly configFile: string
  readonly facts: SocketFacts
  /** As in `OpenAgents`. */
  readonly kept?: boolean
  /** As in `Parts`. */
  readonly answering?: Answering
  /** As in `Parts`. */
  readonly self?: readonly [string, ...string[]]
}

/** As the user has configured it: which tools, which tmux server, which tool when none is named. Undoes forks that were killed. */
export async function configuredParts(options: ConfiguredAgents): Promise<Parts> {
  const { home, context, configFile, facts, kept = false, answering, self } = options
  const [settings, runners, environment] = await Promise.all([
    readSettings(configFile),
    home.programs.runners(),
    home.programs.environment(),
  ])
  const tool = defaultTool(settings, configFile)
  const socket = tmuxSocket(settings, configFile, facts)
  const named = {
    ...(tool ? { defaultTool: tool } : {}),
    ...(answering ? { answering } : {}),
    ...(self ? { self } : {}),
  }
  const parts = partsOf({ home, context, environment, socket, runners: runners.all, kept, ...named })
  await sweepForks(parts)
  return parts
}

/** The parts themselves, for who drives them by hand. */
export function partsOf(options: OpenAgents): Parts {
  const { home, context, environment, socket, runners, defaultTool = 'claude', kept = false, answering, self } = options
  return {
    home,
    context,
    environment,
    socket: { path: socketPath({ socket, environment: cleanEnvironment(environment.env) }) },
    runners,
    defaultTool,
    isStaying: kept,
    ...(answering ? { answering } : {}),
    ...(self ? { self } : {}),
    runs: new AgentRuns(home, context),
    spool: new Spool(home.paths.spool),
    terminals: new Terminals(context, environment.env, kept),
  }
}
