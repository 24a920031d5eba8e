import type { Instant, SessionId } from '../../model/index.js'
import type { Environment } from '../log/log-tool.js'
import type { LoggedTurn } from '../log/turn.js'

/** Where a conversation is cut: behind a turn, or in front of its prompt. Turns are numbered as `skein turns` does. */
export interface CutPoint {
  turn: number
  edge: 'before' | 'after'
}

/** What the copy shall be: a session of its own, in another directory. */
export interface CutTarget {
  session: SessionId
  /** With all links resolved: tools file their logs by the real path. */
  cwd: string
  environment: Environment
  now: Instant
}

/** A conversation up to a turn, ready to be placed. The log that it comes from is left as it is. */
export interface Cut {
  /** The id that the copy has. Some tools have a form of their own for ids. */
  session: SessionId
  /** How many turns it has; with none there are no files, and a new conversation says the same. */
  turns: number
  /** What the copy has to say, where that is less than the source says of these turns: somebody went back to the middle of one. */
  says?: readonly LoggedTurn[]
  /** The log first, then what the tool needs to find it. None of them may exist. */
  files: { path: string; content: string; onlyIfAbsent?: true }[]
  /** A run of the tool that takes the first file into its own store. The file is only for that run. */
  import?: { argv: readonly [string, ...string[]]; cwd: string }
}
