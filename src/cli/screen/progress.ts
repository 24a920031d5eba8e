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
export function makeProgress(stderr: Stream, now: () => number): (work: Progress) => void {
  let what: string | undefined
  let startedMs = 0
  let shownMs: number | undefined
  return (work) => {
    const isOver = work.done >= work.total
    if (work.what !== what) {
      what = work.what
      startedMs = now()
      shownMs = undefined
    }
    const nowMs = now()
    if (isOver) {
      if (shownMs !== undefined && stderr.isTTY) stderr.write('\r\x1b[K')
      what = undefined
      return
    }
    if (nowMs - startedMs < PATIENCE_MS) return
    if (!stderr.isTTY) {
      if (shownMs === undefined) stderr.write(`${safeText(work.what)} ...\n`)
      shownMs ??= nowMs
      return
    }
    if (shownMs !== undefined && nowMs - shownMs < REDRAW_MS) return
    shownMs = nowMs
    stderr.write(`\r\x1b[K${bar(work, stderr.columns ?? 80)}`)
  }
}

function bar({ what, done, total }: Progress, columns: number): string {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
  const full = Math.round(share * BAR_CELLS)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}]${percent}  ${safeText(what)}`.slice(0, columns - 1)
}
