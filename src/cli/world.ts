import type { DaemonFacts } from '../daemon/index.js'
import type { InputLimits } from '../disk/index.js'
import type { Home } from '../home/index.js'
import type { Agents, Answering } from '../lifecycle/index.js'
import type { Context } from '../model/index.js'
import type { ProfileEntry } from '../operations/index.js'
import type { Cli } from './command.js'
import type { Stream } from './screen/output.js'
import type { Terminal } from './screen/terminal.js'

/** Everything the command line asks of the outside. Built in `src/main.ts`; tests build their own. */
export interface World {
  /** What was typed after the program's name. */
  readonly args: readonly string[]
  version(): string
  readonly cwd: string
  /** Everything on standard input. */
  stdin(): string
  /** The message of a hook on standard input, if there is one: whatever is at its other end, within these limits. */
  input(limits: InputLimits): Promise<string | undefined>
  /** Where the user's own privacy policy is kept. It need not exist. */
  readonly privacyFile: string
  readonly stdout: Stream
  readonly stderr: Stream
  /** How programs that Skein starts, or has hooks in, reach it. */
  readonly answering: Answering
  /** The clock, randomness and where warnings go. */
  readonly context: Context
  /** Who changes are recorded for. */
  readonly actor: string
  readonly settings: Settings
  readonly profiles: Profiles
  /** How daemons are reached and started here. */
  readonly daemon: DaemonFacts
  now(): number
  /** The agents of an open home. A daemon is started for it unless `wakes` is false. */
  agents(home: Home, options?: { readonly wakes?: boolean }): Promise<Agents>
  /** Runs a program in the user's terminal until it ends; false when no person sits at both ends of this process, and nothing ran. */
  handOver(argv: readonly [string, ...string[]], begun?: () => void): Promise<boolean>
  /** Takes the terminal over; undefined when no person sits at both ends of this process. */
  terminal(): Promise<Terminal> | undefined
  interrupted(): AbortSignal
  /** A person sits at both ends of this process. */
  readonly isAttended: boolean
  detach: Cli['detach']
}

/** What the environment says. */
export interface Settings {
  /** SKEIN_PROFILE */
  readonly profile: string | undefined
  /** SKEIN_SESSION */
  readonly session: string | undefined
  /** SKEIN_AGENT */
  readonly agent: string | undefined
  /** SKEIN_RUN: typed inside an agent. */
  readonly run?: string | undefined
  /** TMUX */
  readonly tmux: string | undefined
  /** SKEIN_PASSPHRASE: of packs. */
  readonly passphrase?: string | undefined
  /** NO_COLOR */
  readonly noColour: boolean
  /** COLUMNS */
  readonly columns: number | undefined
  /** SKEIN_DEBUG: show stacks. */
  readonly debug: boolean
}

/** The homes on this machine. Loaded on first use: help and usage errors need none. */
export interface Profiles {
  open(profile: string): Promise<Home>
  list(): Promise<ProfileEntry[]>
  create(profile: string): Promise<ProfileEntry>
  remove(profile: string): Promise<void>
}
