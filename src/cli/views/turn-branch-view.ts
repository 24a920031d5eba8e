import type { TurnBranchView } from '../../lifecycle/index.js'
import type { Fact } from '../screen/card.js'
import { relativeTime } from '../screen/moment.js'
import { plural } from '../screen/plural.js'
import type { Screen } from '../screen/screen.js'

/** The branch with one commit per turn, and what became of the last commit and the last push. */
export function turnBranchFacts(branch: TurnBranchView | undefined, screen: Screen): Fact[] {
  // A fork or a start with --worktree has a branch also where no turn is committed to it.
  if (!branch || (branch.turns === 0 && !branch.problem && !branch.push)) return []
  return [
    ['turn branch', `${branch.branch}, ${plural(branch.turns, 'turn')}`],
    ['not committed', branch.problem && `${branch.problem.reason} (${relativeTime(branch.problem.at, screen.nowMs)})`],
    ['push', pushText(branch, screen)],
  ]
}

function pushText({ push, commit }: TurnBranchView, screen: Screen): string | undefined {
  if (!push) return undefined
  const { remote, outcome, at, reason, tries, next_at } = push
  const when = relativeTime(at, screen.nowMs)
  if (outcome === 'pushed') return `${remote} has ${push.commit === commit ? 'it' : 'an earlier turn'} (${when})`
  const again =
    next_at === undefined ? 'tried again with the next turn' : `next try ${relativeTime(next_at, screen.nowMs)}`
  return `${outcome} by ${remote} ${when}${tries > 1 ? `, ${tries} times` : ''}: ${reason ?? 'no reason given'}; ${again}`
}
