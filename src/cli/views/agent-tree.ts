import { type Agent, flattenRoster, type Group, lastSegment, type RosterRow } from '../../model/index.js'
import { type Branch, drawBranches } from '../screen/branches.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

export interface AgentTree<Shown extends Agent> {
  readonly agents: readonly Shown[]
  /** Those of the agents, and empty ones. Groups that only agents name need not be given. */
  readonly groups?: readonly Group[]
  /** Shows what is in folded groups: somebody asked for it. */
  readonly unfold?: boolean
}

interface Face<Shown extends Agent> {
  branchOf(agent: Shown, screen: Screen): Branch
  /** What the one line of a folded group says of the agents in it. */
  sumOf?(agents: readonly Shown[]): string
}

type Row<Shown extends Agent> = RosterRow<Shown>
interface Node<Shown extends Agent> {
  row: Row<Shown>
  inside: Node<Shown>[]
}

/** Groups with what is in them, each agent drawn by `branchOf`. */
export function agentTree<Shown extends Agent>(
  { agents, groups = [], unfold = false }: AgentTree<Shown>,
  screen: Screen,
  { branchOf, sumOf }: Face<Shown>,
): string {
  const { bold, dim } = screen.paint
  const branch = ({ row, inside }: Node<Shown>): Branch => {
    const branches = inside.map(branch)
    if (row.kind === 'agent') {
      const own = branchOf(row.agent, screen)
      return { ...own, branches: [...own.branches, ...branches] }
    }
    const { path, name, expanded } = row.group
    const isFolded = !expanded && !unfold
    const within = isFolded ? agentsOf(inside) : []
    const sum = within.length > 0 ? `${plural(within.length, 'agent')}${sumOf?.(within) ?? ''}` : 'empty'
    return {
      parts: [
        { text: `${safeText(lastSegment(path))}/`, paint: bold },
        ...(isFolded || inside.length === 0 ? [{ text: `(${sum})`, paint: dim }] : []),
      ],
      title: name === lastSegment(path) ? undefined : safeText(name),
      branches: isFolded ? [] : branches,
    }
  }
  return drawBranches(nested(flattenRoster(groups, agents)).map(branch), screen)
}

/** The rows as a tree again: a row is inside the nearest one before it that is less deep. */
function nested<Shown extends Agent>(rows: readonly Row<Shown>[]): Node<Shown>[] {
  const top: Node<Shown>[] = []
  const open: Node<Shown>[] = []
  for (const row of rows) {
    const node: Node<Shown> = { row, inside: [] }
    open.length = row.depth
    ;(open.at(-1)?.inside ?? top).push(node)
    open.push(node)
  }
  return top
}

const agentsOf = <Shown extends Agent>(nodes: readonly Node<Shown>[]): Shown[] =>
  nodes.flatMap(({ row, inside }) => [...(row.kind === 'agent' ? [row.agent] : []), ...agentsOf(inside)])
