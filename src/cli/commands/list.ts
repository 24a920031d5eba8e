import { list as operation } from '../../operations/index.js'
import type { Command } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { downNote } from '../views/recovery-view.js'
import { runningAgentsView } from '../views/running-agents-view.js'

/** What only sessions can be asked for. */
const OF_SESSIONS = ['since', 'until', 'outcome', 'title', 'chain', 'work', 'limit', 'cursor', 'in'] as const

const agents = operationCommand(operation, {
  name: 'list',
  examples: [
    ['skein list', 'All agents and their status'],
    ['skein list --group web --json', 'A group, for scripts'],
    ['skein list --since 7d', 'Sessions of this week'],
  ],
  show(listed, { out }, typed) {
    const { rig, tool, role, agent, all } = typed
    const unfold = all || [rig, tool, role, agent].some((filter) => filter !== undefined)
    out.result(listed, (screen) => runningAgentsView({ ...listed, unfold }, screen))
    const down = downNote(listed.agents)
    if (down !== undefined) out.note(down)
    if (listed.agents.length === 0)
      out.note('No agents. Start one: skein start . --tool <tool>. Sessions: skein sessions list')
  },
})

export const list: Command = {
  ...agents,
  start: async (given, cli) => {
    const isAboutSessions = OF_SESSIONS.some((name) => given[name] !== undefined)
    if (!isAboutSessions || cli.out.json) return agents.start(given, cli)
    const { list: sessions } = await import('./sessions/list.js') // loads the databases, which a list of agents does not need
    return sessions.start(given, cli)
  },
}
