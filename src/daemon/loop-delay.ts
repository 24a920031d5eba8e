import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

/** Looked at this often, which costs a few microseconds. */
const RESOLUTION_MS = 20
const NANOSECONDS = 1_000_000

/** How long callers had to wait because the daemon was busy with something else. */
export class LoopDelay implements Disposable {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#delays.enable()
  }

  /** Since the daemon started, in milliseconds. */
  read(): { p99_ms: number; max_ms: number } {
    const { max } = this.#delays
    return { p99_ms: waited(this.#delays.percentile(99)), max_ms: waited(max) }
  }

  [Symbol.dispose](): void {
    this.#delays.disable()
  }
}

/** What is measured is the time between two looks. */
const waited = (nanoseconds: number): number => Math.max(0, Math.round(nanoseconds / NANOSECONDS - RESOLUTION_MS))
