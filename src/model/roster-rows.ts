import { type AgentAddress, containerOf, type GroupPath, groupLineage, lastSegment } from './address.js'
import type { Agent, Group } from './agent.js'
import { MAX_ORDER } from './group-order.js'

/** One line of the roster as faces show it. */
export type RosterRow<Shown extends Agent = Agent> = RowPlace &
  ({ kind: 'group'; group: Group } | { kind: 'agent'; agent: Shown })

export interface RowPlace {
  /** 0 at the top. */
  depth: number
  /** The row that contains this one: a group's path, or the address of the agent that spawned it. */
  parent?: GroupPath | AgentAddress
  /** In a folded group: faces leave it out. */
  hidden: boolean
}

/**
 * Groups and agents in display order: in each group its groups by `order`, then its agents by address. An agent follows the agent
 * that spawned it if both are in one group. A group that an agent is in and that is not given is added.
 */
export function flattenRoster<Shown extends Agent>(
  groups: Iterable<Group>,
  agents: Iterable<Shown>,
): RosterRow<Shown>[] {
  const shown = [...agents].sort((a, b) => compare(a.address, b.address))
  const groupsIn = grouped(withMissing(groups, shown), ({ path }) => containerOf(path))
  const agentsIn = grouped(shown, ({ group_path }) => group_path)
  const rows: RosterRow<Shown>[] = []
  const enter = (path: GroupPath | undefined, place: RowPlace): void => {
    for (const group of (groupsIn.get(path) ?? []).sort(byOrder)) {
      rows.push({ kind: 'group', ...place, group })
      enter(group.path, { depth: place.depth + 1, parent: group.path, hidden: place.hidden || !group.expanded })
    }
    rows.push(...agentRows(agentsIn.get(path) ?? [], place))
  }
  enter(undefined, { depth: 0, hidden: false })
  return rows
}

export const byOrder = (a: Group, b: Group): number => a.order - b.order || compare(a.path, b.path)

/** The agents of one group, each followed by those it spawned. Agents that spawned each other in a ring stay in the list. */
function agentRows<Shown extends Agent>(agents: readonly Shown[], place: RowPlace): RosterRow<Shown>[] {
  const ids = new Set(agents.map(({ id }) => id))
  const spawnedBy = grouped(agents, ({ parent_id }) => (parent_id && ids.has(parent_id) ? parent_id : undefined))
  const drawn = new Set<string>()
  const rows: RosterRow<Shown>[] = []
  const draw = (agent: Shown, at: RowPlace): void => {
    if (drawn.has(agent.id)) return
    drawn.add(agent.id)
    rows.push({ kind: 'agent', ...at, agent })
    for (const child of spawnedBy.get(agent.id) ?? [])
      draw(child, { ...at, depth: at.depth + 1, parent: agent.address })
  }
  for (const agent of [...(spawnedBy.get(undefined) ?? []), ...agents]) draw(agent, place)
  return rows
}

function withMissing(groups: Iterable<Group>, agents: readonly Agent[]): Group[] {
  const known = new Map([...groups].map((group) => [group.path, group]))
  const needed = [...known.keys(), ...agents.flatMap(({ group_path }) => group_path ?? [])]
  for (const path of needed.flatMap(groupLineage))
    if (!known.has(path)) known.set(path, { path, name: lastSegment(path), expanded: true, order: MAX_ORDER })
  return [...known.values()]
}

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const found = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const others = found.get(key)
    if (others) others.push(item)
    else found.set(key, [item])
  }
  return found
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
