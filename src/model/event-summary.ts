import type { Event } from './event.js'

/** One short line for the activity stream. Plain text from data: whoever prints it must escape it. */
export function summarize(event: Event): string {
  const payload = event.payload
  const who = event.agent ?? event.actor
  const field = (name: string): string => (typeof payload[name] === 'string' ? payload[name] : '')
  const about = (...names: string[]): string => names.map(field).find((value) => value !== '') ?? ''
  const tail = (text: string): string => (text ? `: ${text}` : '')
  switch (event.type) {
    case 'session_start':
      return `${who} started ${event.session ?? 'a session'}${tail(about('title', 'work_unit'))}`
    case 'session_resumed':
      return `${who} resumed ${event.session}`
    case 'session_end':
      return `${event.session} ended ${field('outcome')}${tail(field('reason'))}`
    case 'session_step_started':
      return `${event.session} began step ${field('step_ref')}`
    case 'session_step_completed':
      return `${event.session} ${payload.success === false ? 'failed' : 'finished'} step ${field('step_ref')}`
    case 'handoff':
      return `${event.session ?? who} handed off to ${about('child_id') || 'a successor'}${tail(field('subject'))}`
    case 'mail':
      return `${event.actor} wrote to ${about('to') || who}${tail(field('subject'))}`
    case 'done':
      return `${who} finished ${about('work_unit', 'bead') || 'its work'}`
    case 'session_death':
      return `${about('session') || event.session || who} died${tail(field('reason'))}`
    case 'mass_death':
      return `${String(payload.count ?? 'Several')} sessions died together${tail(field('possible_cause'))}`
    case 'agent_added':
      return `${event.agent} joined`
    case 'agent_removed':
      return `${field('address')} left`
    case 'agent_renamed':
    case 'agent_moved':
    case 'group_renamed':
      return `${field('from')} is now ${field('to')}`
    case 'group_created':
      return `group ${field('path')} created`
    case 'group_deleted':
      return `group ${field('path')} deleted`
    default:
      return `${who} ${event.type.replaceAll('_', ' ')}${tail(about('reason', 'subject', 'work_unit', 'bead', 'target'))}`
  }
}
