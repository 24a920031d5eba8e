import { formatDuration, type Progress } from '../../model/index.js'
import { formatBytes } from './format-bytes.js'
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
  #startedAt = 0
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
      this.#startedAt = work.done
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

  /** How fast it goes, and how long it will take if it goes on like this. */
  #pace({ done, total, unit }: Progress, nowMs: number): string {
    const perMs = (done - this.#startedAt) / Math.max(1, nowMs - this.#startedMs)
    if (perMs <= 0) return ''
    const left = formatDuration((total - done) / perMs)
    return unit === 'bytes' ? `, ${formatBytes(Math.round(perMs * 1_000))}/s, ${left} left` : `, ${left} left`
  }

  #draw(work: Progress, nowMs: number): void {
    const isFirst = this.#shownMs === undefined
    if (!isFirst && (!this.stderr.isTTY || nowMs - (this.#shownMs ?? 0) < REDRAW_MS)) return
    this.#shownMs = nowMs
    this.stderr.write(
      this.stderr.isTTY
        ? `\r\x1b[K${bar(work, this.#pace(work, nowMs), this.stderr.columns || 80)}`
        : `${safeText(work.what)} ...\n`,
    )
  }
}

function bar({ what, done, total }: Progress, pace: string, columns: number): string {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
  const full = Math.round(share * BAR_CELLS)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}]${percent}  ${safeText(what)}${pace}`.slice(
    0,
    columns - 1,
  )
}
