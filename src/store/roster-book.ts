import {
  type Agent,
  type AgentAddress,
  byOrder,
  checkOrder,
  containerOf,
  flattenRoster,
  type Group,
  type GroupPath,
  isWithin,
  joinAddress,
  parseAddress,
  parseAgentId,
  parseGroupPath,
  parseName,
  type Roster,
  type RosterRow,
  rebase,
  reordered,
  SkeinError,
  splitAddress,
} from '../model/index.js'
import { type AgentLookup, agentMeant, findAgent, lookupIn } from './agent-lookup.js'
import { regroupedWork, releasedWork } from './agent-work.js'
import { keptWords, withoutSecrets } from './kept-words.js'
import { answered, ask, type Lookup } from './lookup.js'
import type { ProfileStore } from './profile-store.js'
import type { AddAgentOptions, GroupFacts, RosterBook } from './roster-api.js'
import {
  agentExists,
  groupExists,
  groupName,
  groupNotFound,
  type IsShared,
  refuseAgents,
  refuseLosing,
  refuseTaken,
  refuseTwins,
} from './roster-rules.js'
import type { ChangeState, Draft } from './write-batch.js'

/** The agents and groups of a profile, with the rules of the group tree. */
export class StoredRoster implements RosterBook {
  readonly #lookup: AgentLookup

  constructor(
    private readonly store: ProfileStore,
    cwd?: () => string,
    /** Which paths the roles share. */
    private readonly shared: () => Promise<IsShared> = async () => () => false,
  ) {
    this.#lookup = lookupIn(store.paths, cwd)
  }

  async add(given: AddAgentOptions): Promise<Agent> {
    const address = parseAddress(given.address)
    const options = await withoutSecrets(given, this.store.paths)
    const { group, name } = splitAddress(address)
    const id = given.id ?? parseAgentId(this.store.context.random.uuid())
    const change = (isShared: IsShared) => (state: ChangeState) => {
      const { roster, now } = state
      refuseTaken(roster, address, isShared)
      const { title = name, tool, command, project_path, role, loaded_mcp_names } = options
      const parent_id = options.parent === undefined ? undefined : this.#named(state, options.parent).id
      const facts = { title, tool, command, project_path, role, loaded_mcp_names, parent_id }
      const agent = { id, address, group_path: group, ...facts, created_at: now, updated_at: now }
      return {
        events: [{ type: 'agent_added', agent: address, payload: { agent } }],
        result: () => present(roster, id),
      }
    }
    return this.#unlessTaken((isShared) => this.store.change(change(isShared)))
  }

  async agents({ group, tool, role }: { group?: string; tool?: string; role?: string } = {}): Promise<Agent[]> {
    const path = group === undefined ? undefined : parseGroupPath(group)
    const all = await this.store.ask((index) => answered(agentsWithin(path), index))
    return all.filter(
      (agent) =>
        (!path || (agent.group_path !== undefined && isWithin(agent.group_path, path))) &&
        (tool === undefined || agent.tool === tool) &&
        (role === undefined || agent.role === role),
    )
  }

  async agent(reference: string): Promise<Agent> {
    return this.store.ask((index) => answered(agentMeant(reference, this.#lookup), index))
  }

  async update(reference: string, facts: Partial<Omit<AddAgentOptions, 'id' | 'address' | 'parent'>>): Promise<Agent> {
    const { title, tool, command, project_path, role, loaded_mcp_names } = await withoutSecrets(facts, this.store.paths)
    return this.#changeAgent(reference, (agent) => ({
      type: 'agent_updated',
      payload: { agent_id: agent.id, title, tool, command, project_path, role, loaded_mcp_names },
    }))
  }

  async rename(reference: string, name: string): Promise<Agent> {
    const segment = parseName(name)
    return this.#relocate('agent_renamed', reference, ({ address }) =>
      joinAddress(splitAddress(address).group, segment),
    )
  }

  async move(reference: string, group: string | undefined): Promise<Agent> {
    const target = group === undefined ? undefined : parseGroupPath(group)
    return this.#relocate('agent_moved', reference, ({ address }) => joinAddress(target, splitAddress(address).name))
  }

  async remove(reference: string): Promise<Agent> {
    return this.store.change((state) => {
      const agent = this.#named(state, reference)
      const { id: agent_id, address } = agent
      return {
        events: [
          { type: 'agent_removed', agent: address, payload: { agent_id, address } },
          ...releasedWork(state.index, agent, state.now),
        ],
        result: () => agent,
      }
    })
  }

  async restore(agent: Agent): Promise<Agent> {
    return this.store.change(({ roster }) => {
      refuseTaken(roster, agent.address, () => true) // it was there before
      const { parent_id, ...rest } = agent
      const restored = { ...rest, ...(parent_id && roster.agents.has(parent_id) ? { parent_id } : {}) }
      return {
        events: [{ type: 'agent_added', agent: agent.address, payload: { agent: restored } }],
        result: () => present(roster, agent.id),
      }
    })
  }

  async setParent(reference: string, parent: string | undefined): Promise<Agent> {
    return this.#changeAgent(reference, (agent, state) => {
      const spawner = parent === undefined ? undefined : this.#named(state, parent)
      if (spawner && state.roster.wouldCycle(agent.id, spawner.id)) {
        const next = 'Choose a parent outside of its own descendants'
        throw new SkeinError(
          'illegal-transition',
          `${spawner.address} is ${agent.address} itself or one of its descendants`,
          next,
        )
      }
      return { type: 'agent_parent_set', payload: { agent_id: agent.id, parent_id: spawner?.id } }
    })
  }

  async flatten(): Promise<RosterRow[]> {
    return (await this.store.ask((index) => index.roster())).flatten()
  }

  async groups(): Promise<Group[]> {
    const groups = await this.store.ask((index) => index.groups())
    return flattenRoster(groups, []).flatMap((row) => (row.kind === 'group' ? row.group : []))
  }

  async createGroup(path: string): Promise<Group> {
    const group = parseGroupPath(path)
    const change =
      (isShared: IsShared) =>
      ({ roster }: ChangeState) => {
        if (roster.groups.has(group)) throw groupExists(group)
        refuseAgents(roster, group, isShared)
        refuseTwins(roster, group)
        return {
          events: [{ type: 'group_created', payload: { path: group } }],
          result: () => presentGroup(roster, group),
        }
      }
    return this.#unlessTaken((isShared) => this.store.change(change(isShared)))
  }

  async parkGroup(path: string, { parked, reason }: { parked: boolean; reason?: string }): Promise<Group> {
    const group = parseGroupPath(path)
    const kept = reason === undefined ? {} : await keptWords({ reason }, this.store.paths)
    return this.store.change(({ roster }) => {
      const known = roster.groups.get(group)
      if (!known) throw groupNotFound(roster, group)
      const isSame = parked === (known.parked !== undefined) && kept.reason === known.parked?.reason
      const payload = { path: group, parked, reason: parked ? kept.reason : undefined }
      return {
        events: isSame ? [] : [{ type: 'group_updated', payload, visibility: 'both' }],
        result: () => presentGroup(roster, group),
      }
    })
  }

  async updateGroup(path: string, { name, order, expanded }: GroupFacts): Promise<Group> {
    const group = parseGroupPath(path)
    const given = name === undefined ? undefined : groupName(group, name)
    const kept = given === undefined ? {} : await keptWords({ name: given }, this.store.paths)
    const place = order === undefined ? undefined : checkOrder(order)
    return this.store.change(({ roster }) => {
      if (!roster.groups.has(group)) throw groupNotFound(roster, group)
      const siblings = [...roster.groups.values()]
        .filter((other) => containerOf(other.path) === containerOf(group))
        .sort(byOrder)
      const orders = place === undefined ? [] : [...reordered(siblings, group, place)]
      const others = orders.filter(([other]) => other !== group)
      const facts = { path: group, name: kept.name, order: place, expanded }
      return {
        events: [facts, ...others.map(([other, moved]) => ({ path: other, order: moved }))].map((payload) => ({
          type: 'group_updated',
          payload,
        })),
        result: () => presentGroup(roster, group),
      }
    })
  }

  async renameGroup(path: string, to: string): Promise<Group> {
    const from = parseGroupPath(path)
    const slash = from.lastIndexOf('/')
    const target = parseGroupPath(to.includes('/') || slash < 0 ? to : `${from.slice(0, slash)}/${to}`)
    const change = (isShared: IsShared) => (state: ChangeState) => {
      const { roster, index, now } = state
      if (!roster.groups.has(from)) throw groupNotFound(roster, from)
      if (roster.groups.has(target)) throw groupExists(target)
      refuseAgents(roster, target, isShared)
      refuseTwins(roster, target, from)
      if (isWithin(target, from)) {
        throw new SkeinError(
          'illegal-transition',
          `Group ${from} cannot move into itself`,
          'Choose a path outside of it',
        )
      }
      for (const agent of roster.agentsWithin(from)) {
        const address = parseAddress(target + agent.address.slice(from.length))
        if (roster.at(address)) throw agentExists(address)
      }
      for (const group of roster.groupsWithin(from)) parseGroupPath(target + group.path.slice(from.length))
      return {
        events: [
          { type: 'group_renamed', payload: { from, to: target } },
          ...regroupedWork(index, from, (path) => rebase(path, from, target), now),
        ],
        result: () => presentGroup(roster, target),
      }
    }
    return this.#unlessTaken((isShared) => this.store.change(change(isShared)))
  }

  async deleteGroup(path: string, { moveTo }: { moveTo?: string } = {}): Promise<{ moved: number }> {
    const group = parseGroupPath(path)
    const target = moveTo === undefined ? undefined : parseGroupPath(moveTo)
    const change = (isShared: IsShared) => (state: ChangeState) => {
      const { roster, index, now } = state
      if (!roster.groups.has(group)) throw groupNotFound(roster, group)
      const inside = roster.agentsWithin(group)
      if (inside.length > 0) refuseLosing(roster, group, inside, target, isShared)
      const payload = { path: group, ...(inside.length > 0 && target ? { move_to: target } : {}) }
      const events = [{ type: 'group_deleted', payload }, ...regroupedWork(index, group, () => target, now)]
      return { events, result: () => ({ moved: inside.length }) }
    }
    return this.#unlessTaken((isShared) => this.store.change(change(isShared)))
  }

  /** Roles are read only where a path is taken: most paths name one thing. */
  async #unlessTaken<T>(change: (isShared: IsShared) => Promise<T>): Promise<T> {
    try {
      return await change(() => false)
    } catch (error) {
      const isTaken = error instanceof SkeinError && (error.code === 'agent-exists' || error.code === 'group-exists')
      if (!isTaken) throw error
      return change(await this.shared())
    }
  }

  async #relocate(
    type: 'agent_renamed' | 'agent_moved',
    reference: string,
    target: (agent: Agent) => AgentAddress,
  ): Promise<Agent> {
    return this.#unlessTaken((isShared) =>
      this.#changeAgent(reference, (agent, { roster }) => {
        const to = parseAddress(target(agent))
        refuseTaken(roster, to, isShared)
        return { type, payload: { agent_id: agent.id, from: agent.address, to } }
      }),
    )
  }

  #named({ roster, index }: ChangeState, reference: string): Agent {
    return answered(findAgent(roster, reference, this.#lookup), index)
  }

  async #changeAgent(reference: string, draft: (agent: Agent, state: ChangeState) => Draft): Promise<Agent> {
    return this.store.change((state) => {
      const agent = this.#named(state, reference)
      return {
        events: [{ agent: agent.address, ...draft(agent, state) }],
        result: () => present(state.roster, agent.id),
      }
    })
  }
}

function present(roster: Roster, id: Agent['id']): Agent {
  const agent = roster.agents.get(id)
  if (!agent) throw new Error(`agent ${id} vanished while it was changed`)
  return agent
}

function presentGroup(roster: Roster, path: GroupPath): Group {
  const group = roster.groups.get(path)
  if (!group) throw new Error(`group ${path} vanished while it was changed`)
  return group
}

function* agentsWithin(group: GroupPath | undefined): Lookup<Agent[]> {
  if (group !== undefined) {
    const roster = yield* ask((index) => index.roster())
    if (!roster.groups.has(group)) throw groupNotFound(roster, group)
  }
  return yield* ask((index) => index.agents())
}
