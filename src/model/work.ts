import type { AgentAddress, GroupPath } from './address.js'
import type { AgentId, MailId, SessionId, WorkId } from './ids.js'
import type { Instant } from './time.js'

export const WORK_STATUSES = ['open', 'hooked', 'in_progress', 'blocked', 'deferred', 'done'] as const
export type WorkStatus = (typeof WORK_STATUSES)[number]

/** 0 is the most urgent; 2 is usual. */
export const PRIORITIES = [0, 1, 2, 3, 4] as const
export type Priority = (typeof PRIORITIES)[number]
export const USUAL_PRIORITY: Priority = 2

/** Something to be done, by at most one agent at a time. */
export interface WorkUnit {
  id: WorkId
  title: string
  body?: string
  status: WorkStatus
  priority: Priority
  /** Whose hook it is on; after it is done, who did it. */
  agent?: AgentAddress
  agent_id?: AgentId
  group?: GroupPath
  molecule_id?: string
  /** Why it is blocked or deferred, or what became of it. */
  reason?: string
  created_at: Instant
  updated_at: Instant
  created_by: string
  closed_at?: Instant
  closed_by_session?: SessionId
}

/** How a unit leaves its hook by the agent's own word. */
export const CLOSED_STATUSES = ['done', 'deferred', 'blocked'] as const
export type ClosedStatus = (typeof CLOSED_STATUSES)[number]

/** One handoff of an agent, as its pinned record keeps it. */
export interface HandoffEntry {
  at: Instant
  subject: string
  from_session?: SessionId
  mail?: MailId
  /** What was attached to the hook and taken off by the handoff. */
  molecule_id?: string
}

/** The pinned record of an agent's handoffs, newest last. */
export interface HandoffRecord {
  /** The agent's id, or its address where there is no agent of it. */
  id: string
  agent: AgentAddress
  agent_id?: AgentId
  entries: HandoffEntry[]
  updated_at: Instant
}

/** Whether a unit is on its agent's hook. */
export const isHooked = ({ status }: Pick<WorkUnit, 'status'>): boolean =>
  status === 'hooked' || status === 'in_progress'
