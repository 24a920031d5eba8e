import { VISIBILITIES } from '../../../model/index.js'
import {
  agentRef,
  choice,
  type Kind,
  optional,
  present,
  required,
  sessionRef,
  text,
  usageError,
  when,
} from '../../../operations/index.js'
import { command } from '../../command.js'
import { safeText } from '../../screen/safe-text.js'

const jsonObject: Kind<Record<string, unknown>> = {
  placeholder: '<json>',
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
}

export const append = command({
  name: 'events append',
  summary: 'Record an event that changes no state',
  description: 'Mail, nudges, hooks and the like. What changes a session or an agent is recorded by its own command.',
  examples: [
    [`skein events append mail --agent web/toast --payload '{"subject":"hello"}'`, 'A message to an agent'],
    ['skein events append nudge --session 5e8fa07b', 'Something about a session'],
  ],
  args: { type: required(text('type', 'event-type'), 'What happened') },
  options: {
    session: optional(sessionRef, 'The session it is about'),
    agent: optional(agentRef, 'The agent it is about'),
    payload: optional(jsonObject, 'Its details'),
    visibility: optional(choice('visibility', VISIBILITIES), 'Who it is for'),
    at: optional(when, 'When it happened, if not now'),
  },
  async run({ type, session, agent, payload, visibility, at }, { home, out }) {
    const { events, sessions } = await home()
    const about = session === undefined ? undefined : (await sessions.find(session)).id
    const event = await events.append({ type, ...present({ session: about, agent, payload, visibility, ts: at }) })
    out.result(event, () => safeText(event.id))
  },
})
