import { basename } from 'node:path'
import type { Spent } from '../../index/index.js'
import { durationMs, formatDuration, isActive, type Session } from '../../model/index.js'
import { relativeTime } from '../screen/moment.js'
import { money } from '../screen/money.js'
import type { Paint } from '../screen/paint.js'
import type { Screen } from '../screen/screen.js'
import { type Column, table } from '../screen/table.js'

/** One line per session. On a narrow terminal ids lose their end first, but stay different from each other. */
export function sessionTable(sessions: readonly Session[], screen: Screen, spent: Spending = new Map()): string {
  return sessions.length === 0 ? '' : table(sessions, columns(sessions, screen, spent), screen)
}

/** What each session has cost, by id. */
export type Spending = ReadonlyMap<string, Spent>

function costText(spent: Spent | undefined): string {
  return spent ? money(spent) : ''
}

function columns(sessions: readonly Session[], screen: Screen, spent: Spending): Column<Session>[] {
  return [
    {
      header: 'SESSION',
      text: (session) => session.id,
      paint: (paint) => paint.cyan,
      shrinkTo: distinctPrefix(sessions.map((session) => session.id)),
      shrink: 'cut',
    },
    { header: 'AGENT', text: (session) => session.agent ?? '', shrinkTo: 12 },
    { header: 'TOOL', text: (session) => session.tool ?? '', shrinkTo: 6 },
    { header: 'STARTED', text: (session) => relativeTime(session.started_at, screen.nowMs) },
    { header: 'TIME', text: (session) => formatDuration(durationMs(session, screen.nowMs)), align: 'right' },
    { header: 'OUTCOME', text: outcomeText, paint: outcomePaint },
    { header: 'COST', text: (session) => costText(spent.get(session.id)), align: 'right' },
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

/** The shortest beginning, of at least 8 characters, that tells these ids apart. */
function distinctPrefix(ids: readonly string[]): number {
  const sorted = [...new Set(ids)].sort()
  let length = 8
  for (const [at, id] of sorted.entries()) {
    const next = sorted[at + 1] ?? ''
    let same = 0
    while (same < id.length && id[same] === next[same]) same += 1
    length = Math.max(length, same + 1)
  }
  return length
}
