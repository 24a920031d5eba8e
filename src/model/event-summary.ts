import type { Event } from './event.js'

/** What an event changed, in one line for people. Plain text from data: whoever prints it must escape it. */
export function summarize(event: Event): string {
  const told = new Told(event)
  const summary = Object.hasOwn(SUMMARIES, event.type) ? SUMMARIES[event.type] : undefined
  if (summary) return summary(told)
  return `${told.who} ${event.type.replaceAll('_', ' ')}${tail(told.about('reason', 'subject', 'work_unit', 'bead', 'target'))}`
}

/** The parts of an event that summaries are made of. */
class Told {
  constructor(readonly event: Event) {}

  get payload(): Record<string, unknown> {
    return this.event.payload
  }

  get who(): string {
    return this.event.agent ?? this.event.actor
  }

  get session(): string {
    return named(this.event.session, 'a session')
  }

  /** ` in 0190a1b2-c3d4`, where the event names a session. */
  get inSession(): string {
    return this.event.session === undefined ? '' : ` in ${shortId(this.event.session)}`
  }

  field(name: string): string {
    return textAt(this.payload, name)
  }

  /** The first of these fields that says something. */
  about(...names: string[]): string {
    return names.map((name) => this.field(name)).find((value) => value !== '') ?? ''
  }
}

type Summary = (told: Told) => string

const moved: Summary = (told) => `${told.field('from')} is now ${told.field('to')}`
const bound: Summary = (told) => `${told.who} is${told.inSession || ' in another session'}`

/** An event of another program may not say which agent it was. */
function happenedTo(told: Told, what: string, why: string): string {
  const agent = told.field('target') || told.event.agent
  return `${agent ? `${agent} was ${what}` : `${told.event.actor} ${what} an agent`}${tail(why)}`
}

/** Handoffs without a successor: what was saved is for the same conversation. */
const HANDED_OFF = new Map([
  ['auto', 'saved a handoff'],
  ['cycle', 'continues in a new process'],
])
const CLOSED = new Map([
  ['deferred', 'deferred'],
  ['blocked', 'is blocked in'],
])

const SUMMARIES: Readonly<Record<string, Summary>> = {
  session_start: (told) => `${told.who} began ${told.session}${tail(told.about('title', 'work_unit'))}`,
  session_resumed: (told) => `${told.who} resumed ${told.session}`,
  session_end: (told) => `${told.session} ended ${told.field('outcome')}${tail(told.field('reason'))}`,
  session_update: (told) => `${told.session} changed${tail(changes(told.payload))}`,
  session_step_started: (told) => `${told.session} began step ${told.field('step_ref')}`,
  session_step_completed: (told) =>
    `${told.session} ${told.payload.success === false ? 'failed' : 'finished'} step ${told.field('step_ref')}`,
  session_turn_marked: (told) => `${turnIn(told.payload)} of ${told.session} ${markedHow(told.payload)}`,
  handoff: (told) => {
    const did =
      HANDED_OFF.get(told.field('kind')) ?? `handed off to ${named(told.field('child_id') || undefined, 'a successor')}`
    return `${named(told.event.session, told.who)} ${did}${tail(told.field('subject'))}`
  },
  mail: (told) => `${told.event.actor} wrote to ${told.about('to') || told.who}${tail(told.field('subject'))}`,
  work_changed: (told) => `work ${textAt(told.payload.unit, 'id')} is ${textAt(told.payload.unit, 'status')}`,
  mail_changed: (told) => `mail ${textAt(told.payload.mail, 'id')} changed`,
  handoff_recorded: (told) => `${textAt(told.payload.record, 'agent')} has a new handoff on record`,
  work_forgotten: (told) =>
    `${Array.isArray(told.payload.items) ? told.payload.items.length : 0} old items were dropped`,
  done: (told) =>
    `${told.who} ${CLOSED.get(told.field('status')) ?? 'finished'} ${told.about('work_unit', 'bead') || 'its work'}`,
  session_death: (told) =>
    `${told.about('session') || told.event.session || told.who} died${tail(told.field('reason'))}`,
  mass_death: (told) =>
    `${String(told.payload.count ?? 'Several')} sessions died together${tail(told.field('possible_cause'))}`,
  agent_added: (told) => `${told.event.agent} joined${tail(textAt(told.payload.agent, 'tool'))}`,
  agent_removed: (told) => `${told.field('address')} left`,
  agent_updated: (told) => `${told.who} changed${tail(changes(told.payload))}`,
  agent_parent_set: (told) =>
    told.field('parent_id') === '' ? `${told.who} has no parent any more` : `${told.who} has a new parent`,
  agent_renamed: moved,
  agent_moved: moved,
  group_renamed: moved,
  group_created: (told) => `group ${told.field('path')} created`,
  group_updated: (told) => {
    const { path: _, parked, reason, ...facts } = told.payload
    const how =
      parked === undefined
        ? `changed${tail(changes(facts))}`
        : `${parked ? 'parked' : 'unparked'}${tail(told.field('reason'))}`
    return `group ${told.field('path')} ${how}`
  },
  group_deleted: (told) => `group ${told.field('path')} deleted`,
  agent_started: (told) => {
    const resumed = told.field('how') === 'resume' ? ', resumed' : ''
    return `${told.who} was started${told.inSession}${resumed}${tail(textAt(told.payload.recipe, 'tool'))}`
  },
  spawn: (told) => happenedTo(told, told.field('how') === 'made' ? 'made' : 'spawned', told.field('tool')),
  sling: (told) => `${told.about('work_unit', 'bead') || 'work'} was slung to ${told.about('target') || told.who}`,
  hook: (told) => `${told.about('work_unit', 'bead') || 'work'} is on the hook of ${told.who}`,
  unhook: (told) => `${told.about('work_unit', 'bead') || 'work'} is off the hook of ${told.who}`,
  kill: (told) => happenedTo(told, 'killed', told.field('reason')),
  tool_called: (told) => `${told.who} called ${told.field('tool')}`,
  agent_start_failed: (told) => `${told.who} did not start: step ${told.field('step')}${tail(told.field('reason'))}`,
  agent_stopped: (told) => {
    const how = told.field('how') || 'stopped'
    const why = told.field('reason').replace(new RegExp(`^${how}: `), '')
    return `${told.who} ${how === 'crashed' || how === 'exited' ? how : `was ${how}`}${tail(why)}`
  },
  agent_status: (told) => `${told.who}: ${statusChange(told.payload)}`,
  nudge: (told) => `${told.who} was nudged${tail(told.about('reason', 'work', 'target'))}`,
  agent_stuck: (told) => `${told.who} is stuck${tail(told.field('reason'))}`,
  budget_set: (told) => `${told.event.actor} set a budget${tail(told.field('budget'))}`,
  budget_cleared: (told) => `${told.event.actor} removed a budget${tail(told.field('budget'))}`,
  budget_warned: (told) => `a budget is nearly used up${tail(told.field('reason'))}`,
  budget_used_up: (told) => `${told.who} was stopped${tail(told.field('reason'))}`,
  agent_sent: (told) =>
    `${told.who} was sent ${String(told.payload.bytes ?? '?')} bytes${tail(told.field('delivery'))}`,
  agent_answered: (told) => `${told.who} was answered${tail(told.about('decision', 'choose'))}`,
  agent_acked: (told) => `${told.who} was seen`,
  agent_snoozed: (told) => `${told.who} is snoozed until ${told.field('until')}`,
  agent_archived: (told) => `${told.who} was archived`,
  agent_unarchived: (told) => `${told.who} is listed again`,
  session_resurrected: (told) => `${told.session} can be resumed again${tail(told.field('tool'))}`,
  turn_began: (told) => `${told.who} began ${turnIn(told.payload)}`,
  turn_prompted: (told) => `${told.who} was given a prompt${tail(told.field('prompt').split('\n')[0] ?? '')}`,
  turn_ended: (told) => `${told.who} ended a turn${tail(told.about('reason', 'how'))}`,
  snapshots_warned: (told) => `snapshots take much space${tail(told.field('reason'))}`,
  identity_bind: bound,
  identity_rebind: bound,
  identity_refuse: (told) =>
    `${told.who} did not take over a session that is not its own${tail(told.about('reason', 'session'))}`,
  privacy_redacted: (told) => `${told.session}: secrets were redacted`,
}

const tail = (text: string): string => (text === '' ? '' : `: ${text}`)

/** Enough of an id to find it again. */
const shortId = (id: string): string => (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id) ? id.slice(0, 13).replace(/-$/, '') : id)

const named = (id: string | undefined, otherwise: string): string => (id === undefined ? otherwise : shortId(id))

const turnIn = ({ turn }: Record<string, unknown>): string => (typeof turn === 'number' ? `turn ${turn}` : 'a turn')

function markedHow({ note, pinned }: Record<string, unknown>): string {
  if (typeof note === 'string')
    return note === '' ? 'has no note any more' : `was noted${tail(note.split('\n')[0] ?? '')}`
  return pinned === true ? 'was pinned' : 'is no longer pinned'
}

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
