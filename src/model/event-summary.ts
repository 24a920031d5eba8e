import type { Event } from './event.js'

/** What an event changed, in one line for people. Plain text from data: whoever prints it must escape it. */
export function summarize(event: Event): string {
  const { payload, session } = event
  const who = event.agent ?? event.actor
  const field = (name: string): string => textAt(payload, name)
  const about = (...names: string[]): string => names.map(field).find((value) => value !== '') ?? ''
  const run = session === undefined ? '' : ` in ${shortId(session)}`
  switch (event.type) {
    case 'session_start':
      return `${who} began ${named(session, 'a session')}${tail(about('title', 'work_unit'))}`
    case 'session_resumed':
      return `${who} resumed ${named(session, 'a session')}`
    case 'session_end':
      return `${named(session, 'a session')} ended ${field('outcome')}${tail(field('reason'))}`
    case 'session_update':
      return `${named(session, 'a session')} changed${tail(changes(payload))}`
    case 'session_step_started':
      return `${named(session, 'a session')} began step ${field('step_ref')}`
    case 'session_step_completed':
      return `${named(session, 'a session')} ${payload.success === false ? 'failed' : 'finished'} step ${field('step_ref')}`
    case 'handoff':
      return `${named(session, who)} handed off to ${named(field('child_id') || undefined, 'a successor')}${tail(field('subject'))}`
    case 'mail':
      return `${event.actor} wrote to ${about('to') || who}${tail(field('subject'))}`
    case 'done':
      return `${who} finished ${about('work_unit', 'bead') || 'its work'}`
    case 'session_death':
      return `${about('session') || session || who} died${tail(field('reason'))}`
    case 'mass_death':
      return `${String(payload.count ?? 'Several')} sessions died together${tail(field('possible_cause'))}`
    case 'agent_added':
      return `${event.agent} joined${tail(textAt(payload.agent, 'tool'))}`
    case 'agent_removed':
      return `${field('address')} left`
    case 'agent_updated':
      return `${who} changed${tail(changes(payload))}`
    case 'agent_parent_set':
      return field('parent_id') === '' ? `${who} has no parent any more` : `${who} has a new parent`
    case 'agent_renamed':
    case 'agent_moved':
    case 'group_renamed':
      return `${field('from')} is now ${field('to')}`
    case 'group_created':
      return `group ${field('path')} created`
    case 'group_updated':
      return `group ${field('path')} changed${tail(changes(payload))}`
    case 'group_deleted':
      return `group ${field('path')} deleted`
    case 'agent_started':
      return `${who} was started${run}${field('how') === 'resume' ? ', resumed' : ''}${tail(textAt(payload.recipe, 'tool'))}`
    case 'agent_stopped': {
      const how = field('how') || 'stopped'
      const why = field('reason').replace(new RegExp(`^${how}: `), '')
      return `${who} ${how === 'crashed' || how === 'exited' ? how : `was ${how}`}${tail(why)}`
    }
    case 'agent_status':
      return `${who}: ${statusChange(payload)}`
    case 'agent_sent':
      return `${who} was sent ${String(payload.bytes ?? '?')} bytes${tail(field('delivery'))}`
    case 'agent_answered':
      return `${who} was answered${tail(about('decision', 'choose'))}`
    case 'agent_acked':
      return `${who} was seen`
    case 'agent_snoozed':
      return `${who} is snoozed until ${field('until')}`
    case 'agent_archived':
      return `${who} was archived`
    case 'agent_unarchived':
      return `${who} is listed again`
    case 'identity_bind':
    case 'identity_rebind':
      return `${who} is${run || ' in another session'}`
    case 'identity_refuse':
      return `${who} did not take over a session that is not its own${tail(about('reason', 'session'))}`
    case 'privacy_redacted':
      return `${named(session, 'a session')}: secrets were redacted`
    default:
      return `${who} ${event.type.replaceAll('_', ' ')}${tail(about('reason', 'subject', 'work_unit', 'bead', 'target'))}`
  }
}

const tail = (text: string): string => (text === '' ? '' : `: ${text}`)

/** Enough of an id to find it again. */
const shortId = (id: string): string => (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id) ? id.slice(0, 13).replace(/-$/, '') : id)

const named = (id: string | undefined, otherwise: string): string => (id === undefined ? otherwise : shortId(id))

function textAt(of: unknown, name: string): string {
  const value = typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** `running → waiting (permission): Bash`. */
function statusChange(payload: Record<string, unknown>): string {
  const [status, before, waits, trouble] = ['status', 'previous', 'waiting_for', 'trouble'].map((name) =>
    textAt(payload, name),
  )
  const reason = textAt(payload, 'reason')
  const detail = waits || trouble
  const now = `${status}${detail ? ` (${detail})` : ''}${reason === detail ? '' : tail(reason)}`
  return before === '' || before === status ? now : `${before} → ${now}`
}

/** `title "Fix the login", role builder`: the facts that were given, short ones with their values. */
function changes(payload: Record<string, unknown>): string {
  const given = Object.entries(payload).filter(([name, value]) => value !== undefined && !/_id$|^path$/.test(name))
  return given.map(([name, value]) => `${name.replaceAll('_', ' ')}${shown(value)}`).join(', ')
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 || value.includes('\n') ? '' : ` ${JSON.stringify(value)}`
  return typeof value === 'number' || typeof value === 'boolean' ? ` ${value}` : ''
}
