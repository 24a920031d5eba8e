import type { Resume as ToolResume } from '../../tools/index.js'
import { resumeText } from '../text/resume-text.js'
import type { UsageRecord } from './usage-record.js'

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
export interface Resume {
  /** What the last reading of this log left. Only the reader understands it. */
  carry: string | undefined
}

export interface LogReading {
  /** For the next reading, when this one was asked to remember. */
  carry: string | undefined
  /** True when the counts below are only of what is new in the log. */
  resumed: boolean
  bytes: number
  /** Lines that are not JSON, as far as they were looked at. What could be saved of them was told. */
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
  read(source: UsageSource, tell: (telling: UsageRecord) => void, resume?: Resume): LogReading
}

/**
 * What a usage reader carries after the log's own tool has read it up to there. The quick reader keeps another kind of place: it reads
 * a log that has grown since from its beginning once, which costs less than making that place for every log.
 */
export function carryAfter(tool: string, stopped: ToolResume): string | undefined {
  return tool === 'claude' ? undefined : resumeText(stopped)
}
