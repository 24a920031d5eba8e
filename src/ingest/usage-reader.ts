import type { Telling } from './telling.js'

/** One tool's log on disk. */
export interface UsageSource {
  tool: string
  path: string
}

/** Where a reading of a log begins. */
export interface ReadFrom {
  path: string
  offset: number
  /** What an earlier reading of the same log left for the next one. */
  carry?: string
}

export interface LogReading {
  /** Everything before this was told; a later reading of the grown log may begin here. */
  offset: number
  carry?: string
  bytes: number
  /** Lines the fast path could not decide, which were parsed instead. */
  parsed_lines: number
  /** Lines that are not JSON, as far as they were looked at. */
  damaged_lines: number
  oversized_lines: number
}

/**
 * Reads the usage out of the logs of one tool. Reading again from an earlier place only repeats tellings, which is harmless;
 * telling less is not: what cannot be decided quickly is parsed, what cannot be parsed is counted.
 */
export interface UsageReader {
  read(from: ReadFrom, tell: (telling: Telling) => void): LogReading
}
