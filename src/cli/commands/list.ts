import { list as operation } from '../../operations/index.js'
import type { Command } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { runningAgentsView } from '../views/running-agents-view.js'
import { list as sessions } from './sessions/list.js'

/** What only sessions can be asked for. */
const OF_SESSIONS = ['since', 'until', 'outcome', 'title', 'chain', 'work', 'limit', 'cursor', 'in'] as const

const agents = operationCommand(operation, {
  name: 'list',
  examples: [
    ['skein list', 'All agents and their status'],
    ['skein list --group web --json', 'A group, for scripts'],
    ['skein list --since 7d', 'Sessions of this week'],
  ],
  show(listed, { out }) {
    out.result(listed, (screen) => runningAgentsView(listed.agents, screen))
    if (listed.agents.length === 0)
      out.note('No agents. Start one: skein start . --tool <tool>. Sessions: skein sessions list')
  },
})

export const list: Command = {
  ...agents,
  start: (given, cli) => {
    const isAboutSessions = OF_SESSIONS.some((name) => given[name] !== undefined)
    return (isAboutSessions && !cli.out.json ? sessions : agents).start(given, cli)
  },
}
