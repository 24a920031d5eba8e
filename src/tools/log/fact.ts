import type { ForkOrigin, Instant, SessionId, UsageCall } from '../../model/index.js'
import type { Counters } from './counters.js'

/** Which sub-agent a fact is about; undefined for the conversation itself. */
interface InTurn {
  agent?: string | undefined
  /** Counted from 1 as turns appear in the log, per agent. 0: before any prompt. */
  turn: number
  at?: Instant | undefined
}

/** Who asked: a person, a person while the tool was busy, a program (SDK, print mode), or the tool itself. */
export type PromptBy = 'person' | 'queue' | 'program' | 'tool'

/**
 * What a log says, one statement at a time, in the order of the log. Every statement has a key (turn, part, call or message id)
 * and a later one with the same key replaces the earlier, so facts can be stored as rows, and reading a piece again does no harm.
 * Nested turns are made of them by `foldTurns`.
 */
export type Fact =
  /** All facts told before about this log are void: it was rewritten, or has to be read again from its start. */
  | { kind: 'restart'; reason: string }
  | ({ kind: 'session' } & SessionNews)
  | (InTurn & {
      kind: 'turn'
      prompt: string
      /** How long it was, where it has been filtered since. */
      prompt_chars?: number | undefined
      by: PromptBy
      /** The turn it comes after: its own number less one, unless somebody went back. */
      follows: number
      /** Part of the history this session was forked with, not of its own. */
      copied?: boolean | undefined
      /** The tool call that started this sub-agent. */
      spawned_by?: string | undefined
    })
  /** A text of the agent. One message may have several parts. */
  | (InTurn & { kind: 'said'; message: string; part: string; text: string })
  | (InTurn & {
      kind: 'tool-call'
      call: string
      name: string
      arguments: Record<string, unknown>
      /** What they were called, where they have been filtered since. */
      argument_names?: string[] | undefined
    })
  | (InTurn & {
      kind: 'tool-result'
      call: string
      /** The beginning of the result. */
      result: string
      /** How long that was, where it has been filtered since. */
      result_chars?: number | undefined
      /** Absent when this record does not say; another one about the same call may. */
      success?: boolean | undefined
      duration_ms?: number | undefined
      /** The sub-agent that this call started. */
      agent_started?: string | undefined
    })
  | (InTurn & {
      kind: 'usage'
      /** Its session is the one whose log this is. */
      usage: UsageCall
      /** The call was made in another session; in `copied_from`, where the log names it. This session began at `copied_at`. */
      copied?: boolean | undefined
      copied_from?: SessionId | undefined
      copied_at?: Instant | undefined
      /** The log shows that the call was made in this session; absent where it does not say. */
      made?: true | undefined
    })
  | (InTurn & { kind: 'mark'; mark: Mark; detail?: string | undefined; duration_ms?: number | undefined })
  /** What the tool says the session cost so far, with calls that it does not log. */
  | { kind: 'reported-cost'; cost_usd: number; at?: Instant | undefined }
  | Checkpoint

/**
 * `completed`, `aborted` and `failed` end a turn; a tool call after `completed` opens it again. `compacted`: the context was summarised within it.
 * `timed`: the tool noted how long it took; how it ended is said by another mark.
 */
export type Mark = 'completed' | 'aborted' | 'failed' | 'compacted' | 'timed'

/** What a log says about its session. Told again when more is known; a field that is absent has not changed. */
export interface SessionNews {
  id?: SessionId | undefined
  cwd?: string | undefined
  branch?: string | undefined
  version?: string | undefined
  title?: string | undefined
  /** The first line of the first prompt, without secrets. Added by `src/ingest`, for sessions that have no title. */
  prompt?: string | undefined
  model?: string | undefined
  /** What git printed of the commits that it made: the beginning of the id, and when. Added by `src/ingest`. */
  commits?: { id: string; at?: Instant | undefined }[] | undefined
  started_at?: Instant | undefined
  /** Where it was forked from. */
  origin?: ForkOrigin | undefined
  /** For a sub-agent: the session that started it, the tool call, and its name there. */
  spawner?: { session: SessionId; call?: string | undefined; agent: string } | undefined
  /** The first command was one that replaces a session inside the same process. */
  begun_by?: 'clear' | undefined
  /** The first entry's id. Sessions that share it are copies of one another (a fork that left no other trace). */
  root?: string | undefined
}

/** A place to stop at and go on from, with everything told up to here. */
export interface Checkpoint {
  kind: 'checkpoint'
  resume: Resume
  counters: Counters
  /** Where the conversation would go on, and the turns of other branches. */
  head: { turn: number; abandoned: number[] }
}

/** Opaque to the caller: plain JSON, to be stored and given back. */
export interface Resume {
  v: number
  /** Up to where the log was read; for progress and nothing else. */
  offset: number
  place: unknown
}
