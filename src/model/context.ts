/** What the outside world is to Skein. Built once at the entry points; tests build their own. */
export interface Context {
  readonly clock: { now(): number }
  readonly random: { bytes(count: number): Uint8Array; uuid(): string }
  /** Reports something to the user that is not the answer: one call, one line. */
  readonly warn: (line: string) => void
  /** Long work reports itself here; the face decides whether to draw it. */
  readonly progress: (work: Progress) => void
  readonly actor: string
  readonly host: string
}

export interface Progress {
  what: string
  done: number
  total: number
  /** What is counted; bytes are shown with their rate. */
  unit?: 'bytes'
}
