import { type Event, summarize } from '../../model/index.js'
import { truncateToWidth } from '../screen/display-width.js'
import { localTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** One event on one line: when, what, and what it was about. */
export function eventLine(event: Event, { paint, width }: Screen): string {
  const time = localTime(event.ts)
  const type = safeText(event.type)
  const room = width - time.length - type.length - 4
  const summary = truncateToWidth(safeText(summarize(event)), Math.max(0, room))
  return `${paint.dim(time)}  ${paint.cyan(type)}  ${summary}`.trimEnd()
}
