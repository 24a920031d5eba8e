import type { SessionTree } from '../../home/index.js'
import { durationMs, formatDuration, type Session } from '../../model/index.js'
import { type Branch, drawBranches, type Part } from '../screen/branches.js'
import { relativeTime } from '../screen/moment.js'
import { safe, safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { outcomePaint, outcomeText } from './session-table.js'

/** A continuation stands under what it continues; a fork says at which turn it left. `asked` is marked. */
export function sessionTreeView(root: SessionTree, asked: string, screen: Screen): string {
  return drawBranches([branchOf(root, asked, screen)], screen)
}

function branchOf({ session, continued_by, forks }: SessionTree, asked: string, screen: Screen): Branch {
  return {
    parts: partsOf(session, asked, screen),
    title: session.title === undefined ? undefined : safeText(session.title),
    branches: [...(continued_by ? [continued_by] : []), ...forks].map((child) => branchOf(child, asked, screen)),
  }
}

function partsOf(session: Session, asked: string, { paint, nowMs }: Screen): Part[] {
  const isAsked = session.id.startsWith(asked)
  const time = `${relativeTime(session.started_at, nowMs)}, ${formatDuration(durationMs(session, nowMs))}`
  return [
    ...originOf(session),
    { text: safeText(session.id), paint: isAsked ? paint.bold : paint.cyan },
    { text: outcomeText(session), paint: outcomePaint(paint, session) },
    ...(session.agent ? [safeText(session.agent)] : []),
    { text: `(${time})`, paint: paint.dim },
  ]
}

function originOf({ forked_from, parent_id, link }: Session): string[] {
  if (forked_from) return [forked_from.turn === undefined ? 'fork' : safe`fork at turn ${forked_from.turn}`]
  return parent_id ? [link ?? 'handoff'] : []
}
