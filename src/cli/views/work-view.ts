import type { Mail, WorkUnit } from '../../model/index.js'
import { card } from '../screen/card.js'
import { localAndRelativeTime, relativeTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

export function workTable(work: readonly WorkUnit[], screen: Screen): string {
  return table(
    work,
    [
      { header: 'WORK', text: ({ id }) => id, paint: (paint) => paint.cyan },
      { header: 'P', text: ({ priority }) => String(priority) },
      {
        header: 'STATUS',
        text: ({ status }) => status,
        paint: (paint, { status }) =>
          status === 'blocked' ? paint.yellow : status === 'done' ? paint.dim : paint.green,
      },
      { header: 'AGENT', text: ({ agent = '' }) => agent, shrinkTo: 12 },
      { header: 'GROUP', text: ({ group = '' }) => group, shrinkTo: 8 },
      { header: 'CHANGED', text: ({ updated_at }) => relativeTime(updated_at, screen.nowMs) },
      { header: 'TITLE', text: ({ title }) => title, shrinkTo: 12 },
    ],
    screen,
  )
}

export function workCard(unit: WorkUnit, screen: Screen): string {
  const at = (time: WorkUnit['closed_at']): string | undefined => time && localAndRelativeTime(time, screen.nowMs)
  const facts = card(
    [
      ['work', unit.id],
      ['title', unit.title],
      ['status', unit.status],
      ['reason', unit.reason],
      ['priority', unit.priority],
      ['agent', unit.agent],
      ['group', unit.group],
      ['molecule', unit.molecule_id],
      ['added', `${at(unit.created_at)} by ${unit.created_by}`],
      ['closed', at(unit.closed_at)],
      ['session', unit.closed_by_session],
    ],
    screen,
  )
  return unit.body ? `${facts}\n\n${linesOf(unit.body)}` : facts
}

export function mailTable(mail: readonly Mail[], screen: Screen): string {
  return table(
    mail,
    [
      { header: 'MAIL', text: ({ id }) => id, paint: (paint) => paint.cyan },
      { header: 'P', text: ({ priority }) => String(priority) },
      { header: 'FROM', text: ({ from }) => from, shrinkTo: 12 },
      { header: 'SENT', text: ({ sent_at }) => relativeTime(sent_at, screen.nowMs) },
      { header: 'STATE', text: stateOf, paint: (paint, one) => (one.is_stale ? paint.dim : paint.yellow) },
      { header: 'SUBJECT', text: ({ subject }) => subject, shrinkTo: 12 },
    ],
    screen,
  )
}

/** What a reader should know of it beside that it is unread. */
const stateOf = ({ is_stale, is_hooked, read_at, kind }: Mail): string =>
  [is_stale ? 'stale' : '', is_hooked ? 'hooked' : '', read_at ? 'read' : '', kind === 'handoff' ? kind : '']
    .filter((word) => word !== '')
    .join(' ')

export function mailCard(mail: Mail, screen: Screen): string {
  const facts = card(
    [
      ['mail', mail.id],
      ['from', mail.from],
      ['to', mail.to],
      ['sent', localAndRelativeTime(mail.sent_at, screen.nowMs)],
      ['subject', mail.subject],
      ['state', stateOf(mail)],
    ],
    screen,
  )
  return mail.body === '' ? facts : `${facts}\n\n${linesOf(mail.body)}`
}

const linesOf = (text: string): string => text.split('\n').map(safeText).join('\n')
