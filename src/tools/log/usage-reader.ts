import type { Tokens } from '../../model/index.js'

/**
 * One record of a model call. Tools tell the same call several times: a line per content block while a reply streams, and whole
 * copies in forks, resumed files and sub-agent logs. Tellings with the same `call` (and tool) are about the same call.
 */
export interface UsageRecord extends Tokens {
  tool: string
  /** The maker's id of the reply; it is unique in the world, and copies keep it where they change the request id. */
  call: string
  /** Whose log tells it. */
  session: string
  /** The call is not older than the log's first request, so its session made it. Absent where the log does not say. */
  made?: true | undefined
  /** The log has it from another session, which made the call. */
  copied?: UsageCopy | undefined
  model: string
  at_ms: number
  service_tier?: string | undefined
  speed?: string | undefined
  /** What the tool itself says the call cost; kept beside our own figure, never instead of it. */
  logged_nano_usd?: number | undefined
}

/** What a log says about a call that was copied into it. */
export interface UsageCopy {
  /** The session that it was copied from. */
  from?: string | undefined
  /** When the session began that it was copied into. */
  into_ms?: number | undefined
}

/** One log of a tool: a file, or one session inside a database. */
export interface UsageSource {
  tool: string
  path: string
  /** The session it belongs to, where the tool knows without reading; what the log itself says comes second. */
  session?: string | undefined
  /** Differs whenever the log has changed. */
  stamp: string
}

/** Asks a reader to remember where it stops, and to go on from where it stopped before, if it did. */
export interface UsageResume {
  /** What the last reading of this log left. Only the reader understands it. */
  carry: string | undefined
}

export interface UsageReading {
  /** For the next reading, when this one was asked to remember. */
  carry: string | undefined
  /** True when the counts below are only of what is new in the log. */
  resumed: boolean
  bytes: number
  /** Lines that are not JSON, as far as they were read. What could be recovered from them was reported. */
  damaged_lines: number
  /** Lines too long to be looked at. */
  oversized_lines: number
  /** Records with a token count that is no number: it counts as 0. */
  unread_counts: number
}

/**
 * Reads the usage out of the logs of one tool. To tell something again does no harm, to leave something out does: a log that is
 * not what `carry` remembers (replaced, shrunk, rewritten) is read from its start.
 */
export interface UsageReader {
  read(source: UsageSource, tell: (record: UsageRecord) => void, resume?: UsageResume): UsageReading
}
