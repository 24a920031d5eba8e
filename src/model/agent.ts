import type { AgentAddress, GroupPath } from './address.js'
import type { AgentId } from './ids.js'
import type { Instant } from './time.js'

/** A named worker. Its id never changes; its address follows it through renames and moves. */
export interface Agent {
  id: AgentId
  address: AgentAddress
  /** What people see; free text. */
  title: string
  group_path?: GroupPath
  tool: string
  command?: string
  project_path?: string
  role?: string
  /** The agent that spawned this one. */
  parent_id?: AgentId
  loaded_mcp_names?: string[]
  created_at: Instant
  updated_at: Instant
}

/** A folder of agents. */
export interface Group {
  path: GroupPath
  /** What people see; free text. The last part of the path unless somebody chose another. */
  name: string
  /** Whether lists show what is in it. */
  expanded: boolean
  /** Lower numbers come first among the groups of one group; equal ones by path. */
  order: number
  /** Nothing starts in it until it is unparked. */
  parked?: { at: Instant; by: string; reason?: string }
}
