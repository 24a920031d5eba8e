import { eventsTail, flag, present } from '../../../operations/index.js'
import type { Cli, Command } from '../../command.js'
import { operationCommand, typedInput } from '../../operation-command.js'
import { eventLine } from '../../views/event-line.js'

type Event = Awaited<ReturnType<typeof eventsTail.run>>['events'][number]

const command = operationCommand(eventsTail, {
  name: 'events tail',
  summary: 'Show the newest events, and follow them',
  description: 'With --json, one document per line.',
  examples: [
    ['skein events tail', 'The newest events'],
    ["skein events tail -n 50 --type 'session_*' --since 24h", "Today's sessions"],
    ['skein events tail --session 0f3c9a12 --json', 'Everything that is recorded about one session'],
  ],
  own: { follow: flag('Wait for more, until interrupted', { short: 'f' }) },
  order: ['lines', 'follow', 'feed', 'type', 'session', 'agent', 'since'],
  json: printAll,
  show: printAll,
})

export const tail: Command = {
  ...command,
  async start(given, cli) {
    if (given.follow === undefined) return command.start(given, cli)
    const { lines, feed, type, session, agent, since } = typedInput(eventsTail, given, cli)
    const { events, sessions } = await cli.home()
    const id = session === undefined ? undefined : (await sessions.find(session)).id
    const filter = { last: lines, ...present({ type, session: id, agent, since }), ...(feed ? { feed } : {}) }
    for await (const event of events.tail({ ...filter, signal: cli.interrupted() })) print(event, cli)
  },
}

function printAll({ events }: { events: Event[] }, cli: Cli): void {
  for (const event of events) print(event, cli)
}

const print = (event: Event, { out }: Cli): void => out.item(event, (screen) => eventLine(event, screen))
