import type { FeedEntry } from '../../journal/index.js'
import { type Event, type Instant, summarize } from '../../model/index.js'
import { truncateToWidth } from '../screen/display-width.js'
import { localTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** One event on one line: when, what, and what it was about. */
export function eventLine(event: Event, screen: Screen): string {
  return timedLine(event.ts, event.type, summarize(event), screen)
}

export function feedLine({ ts, type, summary }: FeedEntry, screen: Screen): string {
  return timedLine(ts, type, summary, screen)
}

function timedLine(ts: Instant, kind: string, summary: string, { paint, width }: Screen): string {
  const time = localTime(ts)
  const type = safeText(kind)
  const room = width - time.length - type.length - 4
  return `${paint.dim(time)}  ${paint.cyan(type)}  ${truncateToWidth(safeText(summary), Math.max(0, room))}`.trimEnd()
}
