import type { Agent, AgentId, Group, RosterRow } from '../model/index.js'

export interface AddAgentOptions {
  /** For a caller that writes the id down before the agent is made; a new one by default. */
  id?: AgentId
  address: string
  title?: string
  tool: string
  command?: string
  project_path?: string
  role?: string
  /** Address or id of the spawner. */
  parent?: string
  loaded_mcp_names?: string[]
}

/** What can be changed of a group beside its path. */
export interface GroupFacts {
  /** What people see. Empty: the last part of the path. */
  name?: string
  /** Lower numbers come first. A sibling that has this number already moves behind it. */
  order?: number
  /** False folds it: lists show one line for it. */
  expanded?: boolean
}

/**
 * Wherever an agent is asked for, it is named by its address, a unique end of it, a unique title, a unique beginning of its id
 * or of its session's id, or `.` for the one that works in the current directory.
 */
export interface RosterBook {
  add(options: AddAgentOptions): Promise<Agent>
  agents(filter?: { group?: string; tool?: string; role?: string }): Promise<Agent[]>
  /** Throws `agent-not-found`, with the nearest address as a hint, or `ambiguous-id`, with the candidates. */
  agent(reference: string): Promise<Agent>
  update(reference: string, facts: Partial<Omit<AddAgentOptions, 'id' | 'address' | 'parent'>>): Promise<Agent>
  /** A new name in the same group. */
  rename(reference: string, name: string): Promise<Agent>
  /** Into another group; undefined moves it to the top. */
  move(reference: string, group: string | undefined): Promise<Agent>
  remove(reference: string): Promise<Agent>
  /** Puts an agent that was removed back as it was, under its own id. */
  restore(agent: Agent): Promise<Agent>
  setParent(reference: string, parent: string | undefined): Promise<Agent>
  /** Groups and agents in display order, each with its depth and the row that contains it. */
  flatten(): Promise<RosterRow[]>
  /** In display order. */
  groups(): Promise<Group[]>
  createGroup(path: string): Promise<Group>
  updateGroup(path: string, facts: GroupFacts): Promise<Group>
  /** From now on nothing starts in it, or again. */
  parkGroup(path: string, how: { parked: boolean; reason?: string }): Promise<Group>
  /** A new last segment, or a whole new path; agents and sub-groups come along. */
  renameGroup(path: string, to: string): Promise<Group>
  /** Refused while agents are in it or below, unless they are moved. Returns how many moved. */
  deleteGroup(path: string, options?: { moveTo?: string }): Promise<{ moved: number }>
}
