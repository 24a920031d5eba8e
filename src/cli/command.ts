import type { DaemonFacts } from '../daemon/index.js'
import type { InputLimits } from '../disk/index.js'
import type { Home } from '../home/index.js'
import type { Agents, Answering } from '../lifecycle/index.js'
import type { Context } from '../model/index.js'
import type { Field, Fields, Operation, Values } from '../operations/index.js'
import type { Output } from './screen/output.js'
import type { Terminal } from './screen/terminal.js'
import type { Profiles } from './world.js'

/** What a command works with, beside its own input. */
export interface Cli {
  readonly out: Output
  readonly nowMs: number
  /** Where the user stands. */
  readonly cwd: string
  /** Everything on standard input. */
  stdin(): string
  /** The message of a hook on standard input, if there is one: whatever is at its other end, within these limits. */
  input(limits: InputLimits): Promise<string | undefined>
  /** Where the user's own privacy policy is kept. It need not exist. */
  readonly privacyFile: string
  /** The session this process runs in, when the environment says so. */
  readonly currentSession: string | undefined
  /** The agent this process runs in, when the environment says so. */
  readonly currentAgent: string | undefined
  readonly profile: string
  readonly profiles: Profiles
  /** How programs that Skein starts, or has hooks in, reach it. */
  readonly answering: Answering
  /** The clock, randomness and where warnings go. */
  readonly context: Context
  /** Who changes are recorded for. */
  readonly actor: string
  /** How daemons are reached and started here. */
  readonly daemon: DaemonFacts
  /** Opens the home, which is closed again when the command ends. */
  home(): Promise<Home>
  /** The agents of that home, closed again with it. */
  agents(): Promise<Agents>
  /** The agents of another home, which the caller closes. No daemon is started for it. */
  agentsOf(home: Home): Promise<Agents>
  /** The tmux this was typed in, as $TMUX says it. */
  readonly tmux: string | undefined
  /** Of packs, as $SKEIN_PASSPHRASE says it. */
  readonly passphrase?: string | undefined
  /** Runs a program in the user's terminal until it ends; false when no person sits at both ends of this process, and nothing ran. */
  handOver(argv: readonly [string, ...string[]], begun?: () => void): Promise<boolean>
  /** Takes the terminal over; undefined when no person sits at both ends of this process. */
  terminal(): Promise<Terminal> | undefined
  /** A person sits at both ends of this process. */
  readonly isAttended: boolean
  /** Runs Skein outside of this process's tree, where it survives the agent that it ends. Its output goes to a file. */
  detach(args: readonly string[], options: { input: string; log: string }): Promise<void>
  /** Aborted when the user interrupts; from the first call on, an interrupt no longer ends the process by itself. */
  interrupted(): AbortSignal
}

export interface Declaration<Args extends Fields, Options extends Fields> {
  /** As typed: `sessions list`. */
  readonly name: string
  /** Imperative, without a full stop. */
  readonly summary: string
  readonly description?: string
  /** Every one of them is run by a test. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** In the order they are typed. */
  readonly args: Args
  readonly options: Options
  run(input: Values<Args> & Values<Options>, cli: Cli): Promise<void>
}

/** A command as help, completion and the runner see it: its input is no longer typed. */
export interface Command extends Omit<Declaration<Fields, Fields>, 'run'> {
  /** What the command does, where that is one operation. */
  readonly operation?: Pick<Operation, 'name'>
  /** `given` holds what was typed for each argument and option, already known to be complete. */
  start(given: Given, cli: Cli): Promise<void>
}

export type Given = Readonly<Record<string, readonly string[]>>

/** Declares a command. `run` gets a value per argument and option, typed after its declaration. */
export function command<Args extends Fields, Options extends Fields>(declaration: Declaration<Args, Options>): Command {
  const { run, ...described } = declaration
  return {
    ...described,
    start: (given, cli) => {
      const values: Record<string, unknown> = {}
      for (const [name, input] of Object.entries<Field<unknown>>({ ...declaration.args, ...declaration.options })) {
        values[name] = input.read(given[name] ?? [], cli)
      }
      // The one edge between what was typed and what is typed: each value was read by its own declaration.
      return run(values as Values<Args> & Values<Options>, cli)
    },
  }
}
