import { VISIBILITIES } from '../../model/index.js'
import { defaulted, flag, optional, required } from '../field.js'
import { agentRef, choice, count, type Kind, sessionRef, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { readerMeant } from '../work/agent-meant.js'

const SINCE = optional(when, 'Only since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time')

export const eventsTail = operation({
  name: 'events.tail',
  does: 'reads',
  where: 'either',
  summary: 'Show the newest events',
  description: 'The live stream, GET /v1/events, follows them.',
  input: {
    lines: defaulted(count, 20, 'How many of the newest', { short: 'n' }),
    feed: flag('Only what is meant for the activity stream'),
    type: optional(text('type', 'event-type'), 'Only this type, or a pattern such as session_*'),
    session: optional(sessionRef, 'Only about this session'),
    agent: optional(agentRef, 'Only about this agent'),
    since: SINCE,
  },
  result: 'events',
  async run({ lines, feed, type, session, agent, since }, { home }) {
    const { events, sessions } = await home()
    const id = session === undefined ? undefined : (await sessions.find(session)).id
    const filter = { last: lines, ...present({ type, session: id, agent, since }), ...(feed ? { feed } : {}) }
    return { events: await events.read(filter) }
  },
})

export const eventsFeed = operation({
  name: 'events.feed',
  does: 'reads',
  where: 'either',
  summary: 'Show recent activity, condensed',
  description: 'Leaves out audit-only events, shows repeated events once, and a burst of starts on one line.',
  input: {
    lines: defaulted(count, 50, 'How many of the newest events to look at', { short: 'n' }),
    agent: optional(agentRef, 'Only about this agent'),
    since: SINCE,
  },
  result: 'feed',
  run: async ({ lines, agent, since }, { home }) => ({
    entries: await (await home()).events.feed({ last: lines, ...present({ agent, since }) }),
  }),
})

export const eventsStats = operation({
  name: 'events.stats',
  does: 'reads',
  where: 'either',
  summary: 'Count events by type and age, and say what retention did',
  description:
    'The daemon prunes events, packs the records of old sessions, compresses archived logs and prunes the archive by itself. The last run is shown with what it removed and why, and when the next is due.',
  input: {},
  result: 'event-stats',
  run: async (_, { home }) => (await home()).events.stats(),
})

export const eventsDecay = operation({
  name: 'events.decay',
  does: 'reads',
  where: 'either',
  summary: 'Show how the value of kept events has decayed',
  description:
    'An event has a value of 100% when it happens and of 0% at the end of its time to live; the curve depends on its type.',
  input: {},
  result: 'decay',
  run: async (_, { home }) => ({ types: await (await home()).events.decay() }),
})

export const eventsPrune = operation({
  name: 'events.prune',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Remove expired events',
  description: 'Sessions and agents are not changed; only their event history becomes shorter.',
  input: {
    dry_run: flag('Change nothing, only count'),
    auto: flag('Do nothing if the last run was less than an hour ago'),
  },
  result: 'prune-report',
  run: async ({ dry_run: dryRun, auto }, { home }) => (await home()).events.prune({ dryRun, auto }),
})

export const eventsConfig = operation({
  name: 'events.config',
  does: 'acts',
  where: 'either',
  summary: 'Show or change how long events are kept',
  description: 'Changes are written to your config file; the rest of it stays as it is.',
  input: {
    action: optional(choice('action', ['set', 'reset']), 'What to change; without it, shows the settings'),
    pattern: optional(text('pattern', 'event-type'), 'With set: a type, a pattern with *, or default'),
    ttl: optional(text('ttl'), 'With set: how long, such as 12h or 30d; 0 is for ever'),
  },
  result: 'retention',
  async run({ action, pattern, ttl }, { home }) {
    if (action === 'set') {
      if (pattern !== undefined && ttl !== undefined) return (await home()).events.setTtl(pattern, ttl)
      throw usageError('Missing <pattern> or <ttl>', 'Usage: skein events config set <pattern> <ttl>')
    }
    if (pattern !== undefined) throw usageError('reset takes no arguments', 'Usage: skein events config reset')
    const { events } = await home()
    return action === 'reset' ? events.resetTtls() : events.policy()
  },
})

const jsonObject: Kind<Record<string, unknown>> = {
  placeholder: '<json>',
  schema: { type: 'object' },
  parse: (given) => {
    try {
      const value: unknown = JSON.parse(given)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    } catch {
      // The one message below says what was expected.
    }
    throw usageError(
      `--payload is not a JSON object: ${JSON.stringify(given.slice(0, 60))}`,
      `Write it like '{"subject":"hello"}'`,
    )
  },
  sent: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined),
}

export const eventsAppend = operation({
  name: 'events.append',
  does: 'acts',
  where: 'either',
  summary: 'Record an event that changes no state',
  description: 'For mail, nudges, hooks and similar events. Changes of sessions and agents have their own commands.',
  input: {
    type: required(text('type', 'event-type'), 'What happened'),
    session: optional(sessionRef, 'The session it is about'),
    agent: optional(agentRef, 'The agent it is about: of Skein, or any other by its address'),
    payload: optional(jsonObject, 'Its details'),
    visibility: optional(choice('visibility', VISIBILITIES), 'Who it is for'),
    at: optional(when, 'When it happened, if not now'),
  },
  result: 'event',
  async run({ type, session, agent, payload, visibility, at }, { home }) {
    const opened = await home()
    const about = session === undefined ? undefined : (await opened.sessions.find(session)).id
    const who = agent === undefined ? undefined : (await readerMeant(opened, agent)).address
    return opened.events.append({ type, ...present({ session: about, agent: who, payload, visibility, ts: at }) })
  },
})
