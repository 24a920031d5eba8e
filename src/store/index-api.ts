export interface IndexCare {
  rebuild(): Promise<{ events: number; sessions: number; agents: number; duration_ms: number }>
  check(): Promise<IndexCheck>
}

export interface IndexCheck {
  ok: boolean
  events: number
  sessions: number
  agents: number
  unreadable_lines: number
  /** One line each: what differs from a fresh rebuild. At most 20. */
  problems: string[]
  /** Files that a newer Skein wrote: unchanged, and not read. */
  newer_files: string[]
}
