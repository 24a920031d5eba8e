import type { Event } from '../model/index.js'
import { truncateToWidth } from './display-width.js'
import { jsonLine } from './json.js'
import { localTime } from './moment.js'
import { safeText } from './safe-text.js'
import type { Screen } from './screen.js'

/** One event on one line: when, what, who, about what. */
export function eventLine(event: Event, { paint, width }: Screen): string {
  const time = localTime(event.ts)
  const about = [
    event.agent && event.agent !== event.actor ? event.agent : '',
    event.session ?? '',
    Object.keys(event.payload).length === 0 ? '' : jsonLine(event.payload),
  ]
  const type = safeText(event.type)
  const actor = safeText(event.actor)
  const rest = safeText(about.filter((part) => part !== '').join('  '))
  const room = width - time.length - type.length - actor.length - 6
  const cut = width === Number.POSITIVE_INFINITY ? rest : truncateToWidth(rest, Math.max(0, room))
  return `${paint.dim(time)}  ${paint.cyan(type)}  ${actor}  ${cut}`.trimEnd()
}
