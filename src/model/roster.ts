import {
  type AgentAddress,
  containerOf,
  type GroupPath,
  groupLineage,
  isWithin,
  joinAddress,
  lastSegment,
  rebase,
  splitAddress,
} from './address.js'
import type { Agent, Group } from './agent.js'
import { type Event, isStateType, type StateEvent } from './event.js'
import type { AgentId } from './ids.js'
import { flattenRoster, type RosterRow } from './roster-rows.js'

/** What one event changed in the roster, so that a store writes those rows and no others. */
export interface RosterChange {
  agents: Set<AgentId>
  groups: Set<GroupPath>
}

export const isRosterEvent = (event: Event): boolean =>
  isStateType(event.type) && (event.type.startsWith('agent_') || event.type.startsWith('group_'))

/**
 * All agents and groups. It changes in place because a rebuild applies a million events; `apply` is otherwise pure:
 * the same events in the same order give the same roster, and an event that makes no sense changes nothing.
 */
export class Roster {
  readonly agents = new Map<AgentId, Agent>()
  readonly groups = new Map<GroupPath, Group>()
  readonly #byAddress = new Map<AgentAddress, AgentId>()

  constructor(agents: Iterable<Agent> = [], groups: Iterable<Group> = []) {
    for (const group of groups) this.groups.set(group.path, group)
    for (const agent of agents) this.#put(inItsGroup(agent))
  }

  at(address: AgentAddress): Agent | undefined {
    const id = this.#byAddress.get(address)
    return id && this.agents.get(id)
  }

  agentsWithin(group: GroupPath): Agent[] {
    return [...this.agents.values()].filter((agent) => agent.group_path && isWithin(agent.group_path, group))
  }

  groupsWithin(group: GroupPath): Group[] {
    return [...this.groups.values()].filter((other) => isWithin(other.path, group))
  }

  /** Groups and agents in display order. */
  flatten(): RosterRow[] {
    return flattenRoster(this.groups.values(), this.agents.values())
  }

  /** Whether making `spawner` the parent of `agent` would make an agent its own ancestor. */
  wouldCycle(agent: AgentId, spawner: AgentId): boolean {
    const seen = new Set<AgentId>()
    for (let at: AgentId | undefined = spawner; at && !seen.has(at); at = this.agents.get(at)?.parent_id) {
      if (at === agent) return true
      seen.add(at)
    }
    return false
  }

  apply(event: Event): RosterChange {
    const change: RosterChange = { agents: new Set(), groups: new Set() }
    this.#applyToAgents(event, change)
    this.#applyToGroups(event, change)
    return change
  }

  #applyToAgents(event: Event, change: RosterChange): void {
    const state = event as StateEvent
    switch (state.type) {
      case 'agent_added': {
        const { agent } = state.payload
        if (this.agents.has(agent.id) || this.#byAddress.has(agent.address)) break
        const placed = inItsGroup(agent)
        this.#ensureGroups(placed.group_path, change)
        this.#set(placed, change)
        break
      }
      case 'agent_updated': {
        const { agent_id, ...facts } = state.payload
        const agent = this.agents.get(agent_id)
        if (agent) this.#set({ ...agent, ...facts, updated_at: event.ts }, change)
        break
      }
      case 'agent_renamed':
      case 'agent_moved': {
        const agent = this.agents.get(state.payload.agent_id)
        if (!agent || this.#byAddress.has(state.payload.to)) break
        this.#ensureGroups(splitAddress(state.payload.to).group, change)
        this.#relocate(agent, state.payload.to, event, change)
        break
      }
      case 'agent_removed': {
        const agent = this.agents.get(state.payload.agent_id)
        if (!agent) break
        this.agents.delete(agent.id)
        this.#byAddress.delete(agent.address)
        change.agents.add(agent.id)
        for (const child of this.agents.values()) {
          if (child.parent_id === agent.id) this.#set(withoutSpawner(child, event), change)
        }
        break
      }
      case 'agent_parent_set': {
        const agent = this.agents.get(state.payload.agent_id)
        const spawner = state.payload.parent_id
        if (!agent || (spawner && (!this.agents.has(spawner) || this.wouldCycle(agent.id, spawner)))) break
        this.#set(
          spawner ? { ...agent, parent_id: spawner, updated_at: event.ts } : withoutSpawner(agent, event),
          change,
        )
        break
      }
      default:
        break
    }
  }

  #applyToGroups(event: Event, change: RosterChange): void {
    const state = event as StateEvent
    switch (state.type) {
      case 'group_created':
        this.#ensureGroups(state.payload.path, change)
        break
      case 'group_updated': {
        const { path, parked, reason, ...facts } = state.payload
        const group = this.groups.get(path)
        if (!group) break
        const { parked: before, ...rest } = { ...group, ...facts }
        const how = { at: event.ts, by: event.actor, ...(reason === undefined ? {} : { reason }) }
        const now = parked === undefined ? before : parked ? how : undefined
        this.#setGroup({ ...rest, ...(now ? { parked: now } : {}) }, change)
        break
      }
      case 'group_renamed':
        this.#renameGroup(state.payload.from, state.payload.to, event, change)
        break
      case 'group_deleted':
        this.#deleteGroup(state.payload.path, state.payload.move_to, event, change)
        break
      default:
        break
    }
  }

  #renameGroup(from: GroupPath, to: GroupPath, event: Event, change: RosterChange): void {
    if (!this.groups.has(from) || this.groups.has(to) || isWithin(to, from)) return
    const inside = this.agentsWithin(from)
    if (inside.some((agent) => this.#byAddress.has(rebase(agent.address, from, to)))) return
    this.#ensureGroups(containerOf(to), change)
    for (const group of this.groupsWithin(from)) {
      this.groups.delete(group.path)
      change.groups.add(group.path)
      const path = rebase(group.path, from, to)
      // A name that only repeated the path follows it; one that a person chose stays.
      const name = group.name === lastSegment(group.path) ? lastSegment(path) : group.name
      this.#setGroup({ ...group, path, name }, change)
    }
    for (const agent of inside) this.#relocate(agent, rebase(agent.address, from, to), event, change)
  }

  #deleteGroup(path: GroupPath, moveTo: GroupPath | undefined, event: Event, change: RosterChange): void {
    if (!this.groups.has(path)) return
    const inside = this.agentsWithin(path)
    if (inside.length > 0) {
      if (!moveTo || isWithin(moveTo, path)) return
      const targets = inside.map((agent) => joinAddress(moveTo, splitAddress(agent.address).name))
      if (new Set(targets).size < targets.length || targets.some((address) => this.#byAddress.has(address))) return
      this.#ensureGroups(moveTo, change)
      for (const [index, agent] of inside.entries())
        this.#relocate(agent, targets[index] as AgentAddress, event, change)
    }
    for (const group of this.groupsWithin(path)) {
      this.groups.delete(group.path)
      change.groups.add(group.path)
    }
  }

  #ensureGroups(path: GroupPath | undefined, change: RosterChange): void {
    for (const ancestor of path ? groupLineage(path) : []) {
      if (this.groups.has(ancestor)) continue
      this.#setGroup({ path: ancestor, name: lastSegment(ancestor), expanded: true, order: this.groups.size }, change)
    }
  }

  #relocate(agent: Agent, to: AgentAddress, event: Event, change: RosterChange): void {
    this.#byAddress.delete(agent.address)
    const { group_path, ...rest } = agent
    const { group, name } = splitAddress(to)
    // A title that only repeated the name follows it; one that a person wrote stays.
    const title = agent.title === splitAddress(agent.address).name ? name : agent.title
    this.#set({ ...rest, title, address: to, ...(group ? { group_path: group } : {}), updated_at: event.ts }, change)
  }

  #set(agent: Agent, change: RosterChange): void {
    this.#put(agent)
    change.agents.add(agent.id)
  }

  #put(agent: Agent): void {
    this.agents.set(agent.id, agent)
    this.#byAddress.set(agent.address, agent.id)
  }

  #setGroup(group: Group, change: RosterChange): void {
    this.groups.set(group.path, group)
    change.groups.add(group.path)
  }
}

/** The address decides: a group that disagrees with it would come between agents when it is renamed. */
function inItsGroup(agent: Agent): Agent {
  const { group } = splitAddress(agent.address)
  if (agent.group_path === group) return agent
  const { group_path: _said, ...rest } = agent
  return group ? { ...rest, group_path: group } : rest
}

function withoutSpawner(agent: Agent, event: Event): Agent {
  const { parent_id, ...rest } = agent
  return { ...rest, updated_at: event.ts }
}
