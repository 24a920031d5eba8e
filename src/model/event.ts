import type { AgentAddress, GroupPath } from './address.js'
import type { Agent } from './agent.js'
import type { AgentId, EventId, SessionId } from './ids.js'
import type { Mail } from './mail.js'
import type { Link, Outcome } from './outcome.js'
import type { ForkOrigin, Lineage, SessionFacts } from './session.js'
import type { Instant } from './time.js'
import type { HandoffRecord, WorkUnit } from './work.js'
import type { ItemKey } from './work-item.js'

/** Who an event is for: `audit` the record only, `feed` the activity stream, `both`. */
export type Visibility = 'audit' | 'feed' | 'both'
export const VISIBILITIES: readonly Visibility[] = ['audit', 'feed', 'both']

/** One append-only fact. What it means for the state is decided in `session-state.ts`, `roster.ts` and `work-item.ts` alone. */
export interface Event<Type extends string = string, Payload = Record<string, unknown>> {
  id: EventId
  ts: Instant
  type: Type
  /** Who did it: an agent's address, or a person's name. */
  actor: string
  session?: SessionId
  agent?: AgentAddress
  payload: Payload
  visibility: Visibility
  host: string
}

/** Events that change the projected state. Payloads carry everything their effect needs, so no event has to look at another. */
export interface StatePayloads {
  session_start: SessionFacts & {
    started_at: Instant
    chain_id: SessionId
    parent_id?: SessionId
    link?: Link
    forked_from?: ForkOrigin
  }
  session_resumed: { resumed_at: Instant }
  session_end: { outcome: Outcome; ended_at: Instant; reason?: string }
  session_update: SessionFacts & Partial<Lineage>
  session_step_started: { step_ref: string; molecule_id?: string; started_at: Instant }
  session_step_completed: { step_ref: string; completed_at: Instant; success: boolean }
  /** What is absent stays as it was; an empty note is none. */
  session_turn_marked: { turn: number; note?: string; pinned?: boolean; at: Instant }
  agent_added: { agent: Agent }
  agent_updated: {
    agent_id: AgentId
    title?: string
    tool?: string
    command?: string
    project_path?: string
    role?: string
    loaded_mcp_names?: string[]
  }
  agent_renamed: { agent_id: AgentId; from: AgentAddress; to: AgentAddress }
  agent_moved: { agent_id: AgentId; from: AgentAddress; to: AgentAddress }
  agent_removed: { agent_id: AgentId; address: AgentAddress }
  agent_parent_set: { agent_id: AgentId; parent_id?: AgentId }
  group_created: { path: GroupPath }
  group_updated: {
    path: GroupPath
    name?: string
    expanded?: boolean
    order?: number
    parked?: boolean
    /** With `parked`: why. */
    reason?: string
  }
  group_renamed: { from: GroupPath; to: GroupPath }
  group_deleted: { path: GroupPath; move_to?: GroupPath }
  work_changed: { unit: WorkUnit }
  mail_changed: { mail: Mail }
  handoff_recorded: { record: HandoffRecord }
  work_forgotten: { items: ItemKey[] }
}

export type StateEventType = keyof StatePayloads
export type StateEvent = { [Type in StateEventType]: Event<Type, StatePayloads[Type]> }[StateEventType]

/** Facts worth keeping that change no projected state. */
export const RECORD_TYPES = [
  'handoff',
  'spawn',
  'kill',
  'sling',
  'hook',
  'unhook',
  'done',
  'mail',
  'nudge',
  'boot',
  'halt',
  'session_death',
  'mass_death',
  'patrol_started',
  'patrol_complete',
  'polecat_checked',
  'polecat_nudged',
  'escalation_sent',
  'escalation_acked',
  'escalation_closed',
  'merge_started',
  'merged',
  'merge_failed',
  'merge_skipped',
  'identity_bind',
  'identity_rebind',
  'identity_refuse',
  'privacy_redacted',
  'agent_started',
  'agent_start_failed',
  'tool_called',
  'agent_stopped',
  'agent_status',
  'agent_stuck',
  'budget_set',
  'budget_cleared',
  'budget_warned',
  'budget_used_up',
  'agent_sent',
  'agent_answered',
  'agent_acked',
  'agent_snoozed',
  'agent_archived',
  'agent_unarchived',
  'session_resurrected',
  'turn_began',
  'turn_prompted',
  'turn_ended',
  'snapshots_warned',
] as const
export type RecordEventType = (typeof RECORD_TYPES)[number]

const STATE_TYPES: Readonly<Record<StateEventType, true>> = {
  session_start: true,
  session_resumed: true,
  session_end: true,
  session_update: true,
  session_step_started: true,
  session_step_completed: true,
  session_turn_marked: true,
  agent_added: true,
  agent_updated: true,
  agent_renamed: true,
  agent_moved: true,
  agent_removed: true,
  agent_parent_set: true,
  group_created: true,
  group_updated: true,
  group_renamed: true,
  group_deleted: true,
  work_changed: true,
  mail_changed: true,
  handoff_recorded: true,
  work_forgotten: true,
}

export const isStateType = (type: string): type is StateEventType => Object.hasOwn(STATE_TYPES, type)
export const isKnownType = (type: string): boolean =>
  isStateType(type) || RECORD_TYPES.includes(type as RecordEventType)

/** Noise: many, cheap to lose in a power cut, so they are written without waiting for the disk. */
const BATCHED = new Set<string>([
  'nudge',
  'patrol_started',
  'patrol_complete',
  'polecat_checked',
  'polecat_nudged',
  'privacy_redacted',
  'agent_status', // read again from the agent itself
  'tool_called', // read again from the log
])
/** Whether a write is confirmed only once it is on disk. Unknown types are treated as precious. */
export const isDurable = (type: string): boolean => !BATCHED.has(type) && !type.startsWith('patrol_')

/** Types that nobody follows live. */
const AUDIT_ONLY = new Set<string>([
  'session_update',
  'agent_updated',
  'group_updated',
  'polecat_checked',
  'identity_bind',
  'identity_rebind',
  'privacy_redacted',
  'unhook',
  'work_changed',
  'mail_changed',
  'handoff_recorded',
  'work_forgotten',
  'agent_status',
  'agent_sent',
  'agent_acked',
  'agent_snoozed',
  'turn_began',
  'turn_prompted',
  'turn_ended',
])
export function defaultVisibility(type: string): Visibility {
  if (AUDIT_ONLY.has(type) || type.startsWith('patrol_')) return 'audit'
  return 'both'
}
