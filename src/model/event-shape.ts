import type { StateEventType } from './event.js'
import { isSessionId } from './ids.js'
import { isLink, isOutcome } from './outcome.js'

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const time: Check = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
const flag: Check = (value) => typeof value === 'boolean'
const count: Check = (value) => typeof value === 'number'
const texts: Check = (value) => Array.isArray(value) && value.every(text)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const shaped =
  (shape: Shape): Check =>
  (value) =>
    isObject(value) && fits(value, shape)

/** A name with `?` may be absent. Fields that are not listed pass: a newer version may have added them. */
type Shape = Readonly<Record<string, Check>>

const FACTS: Shape = {
  'tool?': text,
  'title?': text,
  'log_title?': text,
  'tmux_session?': text,
  'agent?': text,
  'agent_id?': text,
  'rig?': text,
  'role?': text,
  'work_unit?': text,
  'molecule_id?': text,
  'step_ref?': text,
  'cwd?': text,
  'branch?': text,
  'model?': text,
  'commits?': texts,
  'source?': text,
}

const AGENT: Shape = {
  id: text,
  address: text,
  title: text,
  'group_path?': text,
  tool: text,
  'command?': text,
  'project_path?': text,
  'role?': text,
  'parent_id?': text,
  'loaded_mcp_names?': texts,
  created_at: time,
  updated_at: time,
}

const isForkOrigin = shaped({ session: isSessionId, 'turn?': count })

const SHAPES: Readonly<Record<StateEventType, Shape>> = {
  session_start: {
    ...FACTS,
    started_at: time,
    chain_id: isSessionId,
    'parent_id?': isSessionId,
    'link?': isLink,
    'forked_from?': isForkOrigin,
  },
  session_resumed: { resumed_at: time },
  session_end: { outcome: isOutcome, ended_at: time, 'reason?': text },
  session_update: {
    ...FACTS,
    'chain_id?': isSessionId,
    'parent_id?': isSessionId,
    'child_id?': isSessionId,
    'link?': isLink,
    'forked_from?': isForkOrigin,
  },
  session_step_started: { step_ref: text, 'molecule_id?': text, started_at: time },
  session_step_completed: { step_ref: text, completed_at: time, success: flag },
  agent_added: { agent: shaped(AGENT) },
  agent_updated: {
    agent_id: text,
    'title?': text,
    'tool?': text,
    'command?': text,
    'project_path?': text,
    'role?': text,
    'loaded_mcp_names?': texts,
  },
  agent_renamed: { agent_id: text, from: text, to: text },
  agent_moved: { agent_id: text, from: text, to: text },
  agent_removed: { agent_id: text, address: text },
  agent_parent_set: { agent_id: text, 'parent_id?': text },
  group_created: { path: text },
  group_updated: { path: text, 'expanded?': flag, 'order?': count },
  group_renamed: { from: text, to: text },
  group_deleted: { path: text, 'move_to?': text },
}

/** Whether a payload read from a file can be trusted to be what its type promises. Hand-written: it runs once per journal line. */
export function isSoundPayload(type: StateEventType, payload: Record<string, unknown>): boolean {
  return fits(payload, SHAPES[type])
}

const EVIDENCE: Shape = { source: text, at: time, status: text, 'reason?': text, 'rule?': text, 'waiting_for?': text }

/** Records that are read back: `skein why` and a lost agent file need them to be what they say. */
const RECORD_SHAPES = {
  agent_started: { agent_id: text, recipe: isObject, run: isObject, 'binding?': isObject, how: text },
  agent_stopped: { agent_id: text, 'run?': text, how: text, 'reason?': text, 'exit_status?': count },
  agent_status: {
    agent_id: text,
    status: text,
    since: time,
    source: text,
    'reason?': text,
    'waiting_for?': text,
    'trouble?': text,
    evidence: (value) => Array.isArray(value) && value.every(shaped(EVIDENCE)),
  },
  identity_bind: { agent_id: text, session: isSessionId, how: text, 'log?': text },
  identity_rebind: { agent_id: text, session: isSessionId, how: text, 'log?': text },
} satisfies Readonly<Record<string, Shape>>

/** Whether a record is what its type promises. Records are kept whatever they say, so this is asked by who reads one. */
export function isSoundRecord(type: keyof typeof RECORD_SHAPES, payload: Record<string, unknown>): boolean {
  return fits(payload, RECORD_SHAPES[type])
}

/** The same for what a roster file holds. */
export const isSoundAgent: Check = shaped(AGENT)
export const isSoundGroup: Check = shaped({ path: text, name: text, expanded: flag, order: count })

function fits(value: Record<string, unknown>, shape: Shape): boolean {
  for (const name in shape) {
    const optional = name.endsWith('?')
    const field = value[optional ? name.slice(0, -1) : name]
    if (field === undefined ? !optional : !shape[name]?.(field)) return false
  }
  return true
}
