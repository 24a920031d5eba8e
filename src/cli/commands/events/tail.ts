import {
  agentRef,
  count,
  defaulted,
  flag,
  optional,
  present,
  sessionRef,
  text,
  when,
} from '../../../operations/index.js'
import { command } from '../../command.js'
import { eventLine } from '../../views/event-line.js'

export const tail = command({
  name: 'events tail',
  summary: 'Show the newest events, and follow them',
  description: 'With --json, one document per line.',
  examples: [
    ['skein events tail', 'The newest events'],
    ["skein events tail -n 50 --type 'session_*' --since 24h", "Today's sessions"],
    ['skein events tail --session 0f3c9a12 --json', 'Everything that is recorded about one session'],
  ],
  args: {},
  options: {
    lines: defaulted(count, 20, 'How many of the newest', { short: 'n' }),
    follow: flag('Wait for more, until interrupted', { short: 'f' }),
    feed: flag('Only what is meant for the activity stream'),
    type: optional(text('type', 'event-type'), 'Only this type, or a pattern such as session_*'),
    session: optional(sessionRef, 'Only about this session'),
    agent: optional(agentRef, 'Only about this agent'),
    since: optional(when, 'Only since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  },
  async run({ lines, follow, feed, type, session, agent, since }, { home, out, interrupted }) {
    const { events, sessions } = await home()
    const id = session === undefined ? undefined : (await sessions.find(session)).id
    const filter = { last: lines, ...present({ type, session: id, agent, since }), ...(feed ? { feed } : {}) }
    const found = follow ? events.tail({ ...filter, signal: interrupted() }) : await events.read(filter)
    for await (const event of found) out.item(event, (screen) => eventLine(event, screen))
  },
})
