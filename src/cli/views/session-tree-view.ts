import type { SessionTree } from '../../home/index.js'
import { durationMs, formatDuration, type Session } from '../../model/index.js'
import { type Branch, drawBranches, type Part } from '../screen/branches.js'
import { relativeTime } from '../screen/moment.js'
import { safe, safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { outcomePaint, outcomeText } from './session-table.js'

/** How sessions of a tree are shown. `asked` is the id that is marked, `short` how ids are written. */
export interface Shown {
  readonly asked: string
  readonly short: ReadonlyMap<string, string>
}

/** Every session of a tree. */
export const idsIn = ({ session, continued_by, forks }: SessionTree): string[] => [
  session.id,
  ...(continued_by ? idsIn(continued_by) : []),
  ...forks.flatMap(idsIn),
]

/** A continuation is under what it continues; a fork says at which turn it left. */
export function sessionTreeView(root: SessionTree, shown: Shown, screen: Screen): string {
  return drawBranches([branchOf(root, shown, screen)], screen)
}

function branchOf({ session, continued_by, forks, more }: SessionTree, shown: Shown, screen: Screen): Branch {
  const below = [...(continued_by ? [continued_by] : []), ...forks].map((child) => branchOf(child, shown, screen))
  return {
    parts: partsOf(session, shown, screen),
    title: session.title === undefined ? undefined : safeText(session.title),
    branches: more ? [...below, { parts: [safe`… ${more} more`], branches: [] }] : below,
  }
}

function partsOf(session: Session, { asked, short }: Shown, { paint, nowMs }: Screen): Part[] {
  const isAsked = session.id === asked
  const time = `${relativeTime(session.started_at, nowMs)}, ${formatDuration(durationMs(session, nowMs))}`
  return [
    ...originOf(session),
    { text: safeText(short.get(session.id) ?? session.id), paint: isAsked ? paint.bold : paint.cyan },
    { text: outcomeText(session), paint: outcomePaint(paint, session) },
    ...(session.agent ? [safeText(session.agent)] : []),
    { text: `(${time})`, paint: paint.dim },
  ]
}

function originOf({ forked_from, parent_id, link }: Session): string[] {
  if (forked_from) return [forked_from.turn === undefined ? 'fork' : safe`fork at turn ${forked_from.turn}`]
  return parent_id ? [link ?? 'handoff'] : []
}
