import type { SessionTree } from '../home/index.js'
import { durationMs, formatDuration, type Session } from '../model/index.js'
import { type Branch, drawBranches } from './branches.js'
import { relativeTime } from './moment.js'
import { safe, safeText } from './safe-text.js'
import type { Screen } from './screen.js'
import { outcomePaint, outcomeText } from './session-table.js'

/** A continuation stands under what it continues; a fork says at which turn it left. `asked` is marked. */
export function sessionTreeView(root: SessionTree, asked: string, screen: Screen): string {
  return drawBranches([branchOf(root, asked, screen)])
}

function branchOf({ session, continued_by, forks }: SessionTree, asked: string, screen: Screen): Branch {
  return {
    label: label(session, asked, screen),
    branches: [...(continued_by ? [continued_by] : []), ...forks].map((child) => branchOf(child, asked, screen)),
  }
}

function label(session: Session, asked: string, { paint, nowMs }: Screen): string {
  const id = session.id.startsWith(asked) ? paint.bold(safeText(session.id)) : safeText(session.id)
  const time = `${relativeTime(session.started_at, nowMs)}, ${formatDuration(durationMs(session, nowMs))}`
  return [
    origin(session),
    paint.cyan(id),
    outcomePaint(paint, session)(outcomeText(session)),
    ...(session.agent ? [safeText(session.agent)] : []),
    paint.dim(`(${time})`),
    ...(session.title ? [safeText(session.title)] : []),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function origin({ forked_from, parent_id, link }: Session): string {
  if (forked_from) return forked_from.turn === undefined ? 'fork' : safe`fork at turn ${forked_from.turn}`
  return parent_id ? (link ?? 'handoff') : ''
}
