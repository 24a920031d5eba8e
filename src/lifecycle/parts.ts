import type { Home } from '../home/index.js'
import type { Spool } from '../journal/index.js'
import { type Context, type Instant, instantOf, nearest, SkeinError } from '../model/index.js'
import type { TmuxSocket } from '../terminal/index.js'
import type { Environment, ToolRunner } from '../tools/index.js'
import type { AgentRuns } from './agent-runs.js'
import type { Answering } from './prime/hook-run.js'
import type { Terminals } from './terminals.js'

/** What every operation on agents works with. */
export interface Parts {
  readonly home: Home
  readonly context: Context
  /** Where the user's programs look for things, and the environment that agents are given. */
  readonly environment: Environment
  readonly runs: AgentRuns
  readonly spool: Spool
  readonly terminals: Terminals
  /** Where new agents are started. */
  readonly socket: TmuxSocket
  readonly runners: readonly ToolRunner[]
  readonly defaultTool: string
  /** How Skein itself is run, as words of a command line. Absent where it is a library. */
  readonly self?: readonly [string, ...string[]]
  /** This process stays, as the daemon does. It has no shell of the user's: agents are started with the environment they had. */
  readonly isStaying: boolean
  /** How programs that are started ask Skein for answers; without it they only report. */
  readonly answering?: Answering
}

export const nowOf = ({ context }: Pick<Parts, 'context'>): Instant => instantOf(context.clock.now())

export function runnerOf({ runners }: Pick<Parts, 'runners'>, tool: string): ToolRunner {
  const found = runners.find((runner) => runner.name === tool)
  if (found) return found
  const names = runners.map((runner) => runner.name)
  const meant = nearest(tool, names)
  const next = meant ? `Did you mean ${meant} ?` : `Use one of ${names.join(', ')}, or describe it in [tools.${tool}]`
  throw new SkeinError('tool-unknown', `Skein cannot run a tool named ${JSON.stringify(tool.slice(0, 80))}`, next)
}

/** A pause that a signal ends early. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}
