import { basename } from 'node:path'
import type { Home } from '../../home/index.js'
import { durationMs, formatDuration, isActive, type Session } from '../../model/index.js'
import type { ShownSession } from '../../operations/index.js'
import { relativeTime } from '../screen/moment.js'
import { money } from '../screen/money.js'
import type { Paint } from '../screen/paint.js'
import type { Screen } from '../screen/screen.js'
import { type Column, table } from '../screen/table.js'

/** How ids are shown: by a beginning that names one session. */
export type ShortIds = ReadonlyMap<string, string>

export const shortIdsOf = ({ sessions }: Home, shown: readonly Session[]): Promise<ShortIds> =>
  sessions.shortIds(shown.map(({ id }) => id))

/** One line per session. */
export function sessionTable(
  sessions: readonly ShownSession[],
  screen: Screen,
  short: ShortIds,
  more: readonly Column<ShownSession>[] = [],
): string {
  const all = columns(screen, short)
  all.splice(-2, 0, ...more) // before what is cut on a narrow terminal
  return sessions.length === 0 ? '' : table(sessions, all, screen)
}

/** Why a session began, and who began it. */
export const BEGINNING: readonly Column<ShownSession>[] = [
  { header: 'ROLE', text: ({ role }) => role ?? '', shrinkTo: 6 },
  { header: 'TOPIC', text: ({ topic }) => topic ?? '', shrinkTo: 6 },
  { header: 'FROM', text: ({ sender }) => sender ?? '', shrinkTo: 6 },
]

function columns(screen: Screen, short: ShortIds): Column<ShownSession>[] {
  return [
    {
      header: 'SESSION',
      text: (session) => short.get(session.id) ?? session.id,
      paint: (paint) => paint.cyan,
    },
    { header: 'AGENT', text: (session) => session.agent ?? '', shrinkTo: 12 },
    { header: 'TOOL', text: (session) => session.tool ?? '', shrinkTo: 6 },
    { header: 'STARTED', text: (session) => relativeTime(session.started_at, screen.nowMs) },
    { header: 'TIME', text: (session) => formatDuration(durationMs(session, screen.nowMs)), align: 'right' },
    { header: 'OUTCOME', text: outcomeText, paint: outcomePaint },
    { header: 'COST', text: ({ spent }) => (spent ? money(spent) : ''), align: 'right' },
    { header: 'WORK', text: (session) => session.work_unit ?? '', shrinkTo: 6 },
    { header: 'DIRECTORY', text: (session) => basename(session.cwd ?? ''), shrinkTo: 8 },
    { header: 'TITLE', text: (session) => session.title ?? '', shrinkTo: 8 },
  ]
}

export const outcomeText = (session: Session): string => session.outcome ?? 'active'

export function outcomePaint(paint: Paint, session: Session): (text: string) => string {
  if (isActive(session)) return paint.green
  if (session.outcome === 'crash' || session.outcome === 'lost') return paint.red
  return session.outcome === 'killed' ? paint.yellow : paint.dim
}
