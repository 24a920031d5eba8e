import type { ForkOrigin, Instant, Link, SessionId } from '../../model/index.js'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import type { Fact, Resume, SessionNews } from './fact.js'
import type { UsageReader } from './usage-reader.js'

/** Where tools look for things, as a value: nothing here reads the process. */
export interface Environment {
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** More directories to look in, per tool, from the configuration. Laid out as the tool's own root is. */
  extraRoots?: Readonly<Record<string, readonly string[]>>
  /** The tools of the user's own whose logs the configuration describes. */
  described?: readonly string[]
  /** The user's accounts by name. */
  accounts?: Readonly<Record<string, Account>>
}

/** A directory with an account of a tool, beside the one that is used without a name. */
export interface Account {
  tool: string
  directory: string
  /** Where the logs of its sessions are. */
  logs: string
}

/** One log on disk: a file, or one session inside a database. */
export interface LogRef {
  tool: string
  path: string
  /** The tool's own root that it was found under: where the logs it refers to are. */
  root: string
  /** Known without opening it, from its name or its row; otherwise `identify` tells. */
  session?: SessionId
  /** Set for the log of a sub-agent. */
  agent?: string
  size: number
  modified_at: Instant
  /** Differs whenever the log has changed. */
  stamp: string
}

export interface ReadOptions {
  /** Go on from where an earlier read stopped. */
  from?: Resume
  /** Read no further than this many bytes into the log. */
  limitBytes?: number
  /**
   * Read only the end of a log that is longer than this. Turns are numbered from there, and what follows an earlier entry is placed as
   * well as can be; where the read stopped is of no use to a later one. A log that is not a file of lines is read whole.
   */
  tailBytes?: number
  /** About how much of the log is between two checkpoints. */
  checkpointBytes?: number
  /** How many characters of a tool's result to report, where the usual beginning is not enough. */
  resultChars?: number
  /** Finds the log of another session of the same tool; without it the tool looks under `log.root` itself. */
  find?: (session: SessionId) => LogRef | undefined
  /** Finds a directory by the SHA-256 of its path, for tools that name a project by nothing else. */
  directoryOf?: (hash: string) => string | undefined
}

/** Whether the tool's log can tell something; if not, why. */
export type Ability = { yes: true } | { yes: false; because: string }

/** What a log of this tool can and cannot tell. Callers ask here; nobody outside tools/ compares tool names. */
export interface LogAbilities {
  /** A grown log is read from where the last read stopped. */
  append: Ability
  /** Abandoned branches can be told from the live one. */
  branches: Ability
  /** Tokens and model of each call. */
  usage: Ability
  /** How long a tool call ran. */
  durations: Ability
  /** Where a fork came from. */
  origin: Ability
  sub_agents: Ability
  cwd: Ability
  git_branch: Ability
  aborted: Ability
  failed: Ability
  compacted: Ability
}

export const CAN: Ability = { yes: true }
export const cannot = (because: string): Ability => ({ yes: false, because })

/** A session that took the place of another inside the same process, as the tool's own notes let one conclude. */
export interface Succession {
  predecessor: SessionId
  successor: SessionId
  link: Link
  at: Instant
}

/** An agent program, as far as its logs go. */
export interface LogTool {
  readonly name: string
  readonly can: LogAbilities
  /** The directories it is looked for in, whether they exist or not. */
  roots(environment: Environment): string[]
  /** Every log there is, sub-agents' included. Costs a directory listing and a stat per file; nothing is opened but databases. */
  discover(environment: Environment): LogRef[]
  /** Whether `discover` takes a file for a log, by its place below a root alone: tools keep much else there, secrets included. */
  isLogAt(place: string, root: string): boolean
  /** One log by its path, or undefined when nothing is there. A database may hold several: `session` picks one. */
  logAt(path: string, session?: SessionId): LogRef | undefined
  /** All logs in a database. Only for tools that keep one: it changes in files beside it, too (`-wal`, `-journal`). */
  logsIn?(path: string): LogRef[]
  /** Who the log belongs to. Reads its beginning and its end, whatever its length. */
  identify(log: LogRef): SessionNews
  /**
   * What the log says. Pulled, so that the caller sets the pace and memory stays flat; synchronous, because the work is
   * parsing, not waiting. Always ends with a checkpoint; a long log has some on the way.
   */
  read(log: LogRef, options?: ReadOptions): Iterable<Fact>
  /** The SHA-256 by which the place of a log names its directory. Only for tools that do so. */
  projectHash?(path: string): string | undefined
  /** Whether some of what a log tells is in another log that is not there now. Only for tools whose forks share what they have in common. */
  lacksHistory?(log: LogRef): boolean
  /** Which of these logs, of sessions with the same first entry, this one is a copy of; undefined when that cannot be told. */
  originAmong?(log: LogRef, others: readonly LogRef[]): ForkOrigin | undefined
  /** Links between sessions that no session's own log tells. */
  successions?(environment: Environment): Succession[]
  /** Reads the usage alone, several times quicker than `read`; only for tools that have such a reader. One for each ingest. */
  usageReader?(): UsageReader
  /**
   * The conversation up to a turn, as a log of its own. The source is only read. Refused where a tool call would be left without a result.
   * Absent for tools whose logs cannot be cut.
   */
  cut?(log: LogRef, at: CutPoint, target: CutTarget): Promise<Cut>
  /** The run of the tool that deletes a session, where a copy is in the tool's own store. */
  deletes?(session: SessionId): readonly [string, ...string[]]
  /** The sessions that a living process has open; undefined where the tool does not register them. */
  openSessions?(environment: Environment): ReadonlySet<SessionId> | undefined
}
