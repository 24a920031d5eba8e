import { type Event, isStateType, type StateEventType, VISIBILITIES } from './event.js'
import { isAgentId, isEventId, isMailId, isSessionId, isWorkId } from './ids.js'
import { MAIL_KINDS, type MailKind } from './mail.js'
import { isLink, isOutcome } from './outcome.js'
import {
  absent,
  address,
  type Check,
  count,
  flag,
  isObject,
  listOf,
  misfit,
  path,
  type Shape,
  shape,
  shaped,
  text,
  texts,
  time,
} from './shape.js'
import { PRIORITIES, type Priority, WORK_STATUSES, type WorkStatus } from './work.js'

/** What a type may be called. */
const TYPE = /^[a-z][a-z0-9_.]{0,63}$/
export const isEventType = (value: unknown): value is string => typeof value === 'string' && TYPE.test(value)

const EVENT = shape({
  id: isEventId,
  ts: time,
  type: isEventType,
  actor: text,
  host: text,
  'session?': isSessionId,
  'agent?': address,
  visibility: (value) => VISIBILITIES.includes(value as Event['visibility']),
  payload: isObject,
})

const FACTS = {
  'tool?': text,
  'title?': text,
  'log_title?': text,
  'tmux_session?': text,
  'agent?': address,
  'agent_id?': text,
  'rig?': address,
  'role?': text,
  'topic?': text,
  'sender?': text,
  'work_unit?': text,
  'molecule_id?': text,
  'step_ref?': text,
  'cwd?': path,
  'branch?': text,
  'model?': text,
  'commits?': texts,
  'source?': text,
} satisfies Readonly<Record<string, Check>>

/** A payload is laid over the session, so it must not name what other events decide. */
const DECIDED_ELSEWHERE = {
  'id?': absent,
  'host?': absent,
  'ended_at?': absent,
  'outcome?': absent,
  'reason?': absent,
  'steps?': absent,
  'turn_marks?': absent,
  'tool_calls?': absent,
} satisfies Readonly<Record<string, Check>>

const AGENT = shape({
  id: isAgentId,
  address,
  title: text,
  'group_path?': address,
  tool: text,
  'command?': text,
  'project_path?': path,
  'role?': text,
  'parent_id?': isAgentId,
  'loaded_mcp_names?': texts,
  created_at: time,
  updated_at: time,
})

const isForkOrigin = shaped(shape({ session: isSessionId, 'turn?': count }))

const isPriority: Check = (value) => PRIORITIES.includes(value as Priority)

const WORK_UNIT = shape({
  id: isWorkId,
  title: text,
  'body?': text,
  status: (value) => WORK_STATUSES.includes(value as WorkStatus),
  priority: isPriority,
  'agent?': address,
  'agent_id?': isAgentId,
  'group?': address,
  'molecule_id?': text,
  'reason?': text,
  created_at: time,
  updated_at: time,
  created_by: text,
  'closed_at?': time,
  'closed_by_session?': isSessionId,
})

const MAIL = shape({
  id: isMailId,
  from: text,
  'from_agent_id?': isAgentId,
  to: address,
  'to_agent_id?': isAgentId,
  subject: text,
  body: text,
  kind: (value) => MAIL_KINDS.includes(value as MailKind),
  priority: isPriority,
  sent_at: time,
  thread_id: isMailId,
  'reply_to?': isMailId,
  'from_session?': isSessionId,
  'for_session?': isSessionId,
  'read_at?': time,
  'read_by?': isSessionId,
  'is_hooked?': flag,
  'is_stale?': absent,
})

const HANDOFF_RECORD = shape({
  id: address,
  agent: address,
  'agent_id?': isAgentId,
  entries: listOf(
    shaped(
      shape({
        at: time,
        subject: text,
        'from_session?': isSessionId,
        'mail?': isMailId,
        'molecule_id?': text,
      }),
    ),
  ),
  updated_at: time,
})

const ITEM_KEY = shape({ kind: (value) => ['work', 'mail', 'handoff'].includes(value as string), id: text })

const SHAPES: Readonly<Record<StateEventType, Shape>> = {
  session_start: shape({
    ...FACTS,
    ...DECIDED_ELSEWHERE,
    started_at: time,
    chain_id: isSessionId,
    'parent_id?': isSessionId,
    'child_id?': absent,
    'link?': isLink,
    'forked_from?': isForkOrigin,
  }),
  session_resumed: shape({ resumed_at: time }),
  session_end: shape({ outcome: isOutcome, ended_at: time, 'reason?': text }),
  session_update: shape({
    ...FACTS,
    ...DECIDED_ELSEWHERE,
    'started_at?': absent,
    'chain_id?': isSessionId,
    'parent_id?': isSessionId,
    'child_id?': isSessionId,
    'link?': isLink,
    'forked_from?': isForkOrigin,
  }),
  session_step_started: shape({ step_ref: text, 'molecule_id?': text, started_at: time }),
  session_step_completed: shape({ step_ref: text, completed_at: time, success: flag }),
  session_turn_marked: shape({ turn: count, 'note?': text, 'pinned?': flag, at: time }),
  agent_added: shape({ agent: shaped(AGENT) }),
  agent_updated: shape({
    agent_id: text,
    'title?': text,
    'tool?': text,
    'command?': text,
    'project_path?': path,
    'role?': text,
    'loaded_mcp_names?': texts,
    'id?': absent,
    'address?': absent,
    'group_path?': absent,
    'parent_id?': absent,
    'created_at?': absent,
    'updated_at?': absent,
  }),
  agent_renamed: shape({ agent_id: text, from: address, to: address }),
  agent_moved: shape({ agent_id: text, from: address, to: address }),
  agent_removed: shape({ agent_id: text, address }),
  agent_parent_set: shape({ agent_id: text, 'parent_id?': text }),
  group_created: shape({ path: address }),
  group_updated: shape({
    path: address,
    'name?': text,
    'expanded?': flag,
    'order?': count,
    'parked?': flag,
    'reason?': text,
  }),
  group_renamed: shape({ from: address, to: address }),
  group_deleted: shape({ path: address, 'move_to?': address }),
  work_changed: shape({ unit: shaped(WORK_UNIT) }),
  mail_changed: shape({ mail: shaped(MAIL) }),
  handoff_recorded: shape({ record: shaped(HANDOFF_RECORD) }),
  work_forgotten: shape({ items: listOf(shaped(ITEM_KEY)) }),
}

/**
 * The field of an event that cannot be what it should: `ts`, `payload.title`. The same for what is written and for what is read, so that
 * nothing is acknowledged that would not be read again. It runs once per journal line.
 */
export function eventFault(event: Readonly<Record<string, unknown>>): string | undefined {
  const fault = misfit(event, EVENT)
  if (fault !== undefined) return fault
  const type = event.type as string
  if (!isStateType(type)) return undefined
  if (event.session === undefined && type.startsWith('session_')) return 'session'
  const inPayload = misfit(event.payload as Record<string, unknown>, SHAPES[type])
  return inPayload && `payload.${inPayload}`
}

const EVIDENCE = shape({
  source: text,
  at: time,
  status: text,
  'reason?': text,
  'rule?': text,
  'waiting_for?': text,
})

/** Records that are read back: `skein why` and a lost agent file need them to be what they say. */
const RECORD_SHAPES = {
  agent_started: shape({ agent_id: text, recipe: isObject, run: isObject, 'binding?': isObject, how: text }),
  agent_stopped: shape({ agent_id: text, 'run?': text, how: text, 'reason?': text, 'exit_status?': count }),
  agent_status: shape({
    agent_id: text,
    status: text,
    since: time,
    source: text,
    'reason?': text,
    'waiting_for?': text,
    'trouble?': text,
    evidence: listOf(shaped(EVIDENCE)),
  }),
  identity_bind: shape({ agent_id: text, session: isSessionId, how: text, 'log?': path }),
  identity_rebind: shape({ agent_id: text, session: isSessionId, how: text, 'log?': path }),
} satisfies Readonly<Record<string, Shape>>

/** Whether a record is what its type promises. Records are kept whatever they say, so this is asked by who reads one. */
export function isSoundRecord(type: keyof typeof RECORD_SHAPES, payload: Record<string, unknown>): boolean {
  return misfit(payload, RECORD_SHAPES[type]) === undefined
}

const STEP = shape({
  step_ref: text,
  'molecule_id?': text,
  started_at: time,
  'completed_at?': time,
  'success?': flag,
})

const TURN_MARK = shape({ turn: count, 'note?': text, 'is_pinned?': flag, at: time })

/** The same for what the files that outlive the journal hold: session records and the roster. */
export const isSoundSession: Check = shaped(
  shape({
    ...FACTS,
    id: isSessionId,
    'host?': text,
    started_at: time,
    'ended_at?': time,
    'outcome?': isOutcome,
    'reason?': text,
    'steps?': listOf(shaped(STEP)),
    'turn_marks?': listOf(shaped(TURN_MARK)),
    chain_id: isSessionId,
    'parent_id?': isSessionId,
    'child_id?': isSessionId,
    'link?': isLink,
    'forked_from?': isForkOrigin,
    'tool_calls?': absent,
  }),
)
export const isSoundAgent: Check = shaped(AGENT)
export const isSoundGroup: Check = shaped(shape({ path: address, name: text, expanded: flag, order: count }))
