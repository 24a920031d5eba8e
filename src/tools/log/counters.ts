import { takeUnreadCounts } from '../json-value.js'

/** What a log held that could not be read as it should be. Counted per log, shown to the user, never fatal. */
export interface Counters {
  /** Records that were understood, or known and passed over. */
  records: number
  blank_lines: number
  /** Lines that gave no record. */
  bad_lines: number
  /** Lines that gave no record but for their end: a torn line with the next record glued to it. */
  salvaged_lines: number
  nul_runs: number
  lone_surrogates: number
  bad_utf8_lines: number
  /** Lines too long to be read whole: their long texts were cut, all else was read. */
  long_lines: number
  /** Lines so long that nothing of them was read. */
  dropped_lines: number
  /** Records that follow one that is not in the log. */
  orphans: number
  /** Sessions this one was copied from whose log is gone. */
  missing_origins: number
  unknown_types: Record<string, number>
  /** Records with a token count that is no number: it counts as 0. Absent when there are none. */
  unread_counts?: number
  /** The log ends inside a line: it is still being written, or its writer died. */
  truncated_last_line: boolean
}

export const noCounters = (): Counters => ({
  records: 0,
  blank_lines: 0,
  bad_lines: 0,
  salvaged_lines: 0,
  nul_runs: 0,
  lone_surrogates: 0,
  bad_utf8_lines: 0,
  long_lines: 0,
  dropped_lines: 0,
  orphans: 0,
  missing_origins: 0,
  unknown_types: {},
  truncated_last_line: false,
})

export const copyCounters = (counters: Counters): Counters => ({
  ...counters,
  unknown_types: { ...counters.unknown_types },
})

export function noteUnreadCounts(counters: Counters): void {
  if (takeUnreadCounts()) counters.unread_counts = (counters.unread_counts ?? 0) + 1
}

const MOST_NAMES = 100

/** A damaged log can invent a new name on every line, so only the first hundred are kept apart. */
export function countUnknown(counters: Counters, name: string): void {
  const key = name === '__proto__' ? '(proto)' : name.slice(0, 64)
  const known = Object.hasOwn(counters.unknown_types, key)
  const kept = known || Object.keys(counters.unknown_types).length < MOST_NAMES ? key : '(more)'
  counters.unknown_types[kept] =
    (Object.hasOwn(counters.unknown_types, kept) ? (counters.unknown_types[kept] ?? 0) : 0) + 1
}
