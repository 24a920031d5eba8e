import { agentRef, count, defaulted, optional, present, when } from '../../../operations/index.js'
import { command } from '../../command.js'
import { feedLine } from '../../views/event-line.js'

export const feed = command({
  name: 'events feed',
  summary: 'Show what happened, in few lines',
  description: 'Leaves out what is for the audit only, tells repeated news once and a burst of starts in one line.',
  examples: [
    ['skein events feed', 'What happened lately'],
    ['skein events feed --since 24h --json', 'The last day, for a program'],
  ],
  args: {},
  options: {
    lines: defaulted(count, 50, 'How many of the newest events to look at', { short: 'n' }),
    agent: optional(agentRef, 'Only about this agent'),
    since: optional(when, 'Only since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  },
  async run({ lines, agent, since }, { home, out }) {
    const entries = await (await home()).events.feed({ last: lines, ...present({ agent, since }) })
    out.result({ entries }, (screen) => entries.map((entry) => feedLine(entry, screen)).join('\n'))
  },
})
