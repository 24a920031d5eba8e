import type { Progress } from '../../model/index.js'
import type { Stream } from './output.js'
import { safeText } from './safe-text.js'

const PATIENCE_MS = 1_000
const REDRAW_MS = 100
const BAR_CELLS = 24

/**
 * Shows long work on stderr: nothing for the first second; then, on a terminal, a bar that is wiped away at the end, and
 * elsewhere one line.
 */
export class ProgressBar {
  #what: string | undefined
  #startedMs = 0
  #shownMs: number | undefined

  constructor(
    private readonly stderr: Stream,
    private readonly now: () => number,
  ) {}

  show(work: Progress): void {
    const nowMs = this.now()
    if (work.what !== this.#what) {
      this.wipe()
      this.#what = work.what
      this.#startedMs = nowMs
    }
    if (work.done >= work.total) this.wipe()
    else if (nowMs - this.#startedMs >= PATIENCE_MS) this.#draw(work, nowMs)
  }

  /** Makes room for another line. */
  wipe(): void {
    if (this.#shownMs !== undefined && this.stderr.isTTY) this.stderr.write('\r\x1b[K')
    this.#what = undefined
    this.#shownMs = undefined
  }

  #draw(work: Progress, nowMs: number): void {
    const isFirst = this.#shownMs === undefined
    if (!isFirst && (!this.stderr.isTTY || nowMs - (this.#shownMs ?? 0) < REDRAW_MS)) return
    this.#shownMs = nowMs
    this.stderr.write(
      this.stderr.isTTY ? `\r\x1b[K${bar(work, this.stderr.columns ?? 80)}` : `${safeText(work.what)} ...\n`,
    )
  }
}

function bar({ what, done, total }: Progress, columns: number): string {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
  const full = Math.round(share * BAR_CELLS)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}]${percent}  ${safeText(what)}`.slice(0, columns - 1)
}
