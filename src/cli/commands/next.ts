import { wakeDaemon } from '../../daemon/index.js'
import { formatDuration, msOf, SkeinError, shownReason } from '../../model/index.js'
import { agentsNext, flag } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'
import { visit } from '../visit.js'

export const next = operationCommand(agentsNext, {
  name: 'next',
  summary: 'Go to the agent that has waited for you longest',
  description: `${agentsNext.description} In a terminal it attaches, which marks a finished reply as seen; elsewhere, and with --print or --json, it prints the agent.`,
  examples: [
    ['skein next', 'Attach to it'],
    ['skein next --print', 'Only print it'],
    ['skein next --json', 'The same, for scripts'],
  ],
  own: { print: flag('Print the agent instead of attaching') },
  async prepare(_, { daemon, profile }) {
    await wakeDaemon(daemon, profile)
    return {}
  },
  async show({ agent }, cli, { print }) {
    const { out } = cli
    if (!agent) return out.text('No agent waits for you')
    if (!print && (await attach(agent.id, cli))) return
    const age = formatDuration(out.screen.nowMs - msOf(agent.since))
    const why = shownReason(agent) ?? agent.waiting_for ?? ''
    out.text(safe`${agent.address}  ${agent.status} for ${age}: ${why}`)
  },
})

/** False when there is nobody to attach, or nothing left to attach to. */
async function attach(agent: string, cli: Cli): Promise<boolean> {
  try {
    return await visit(agent, cli)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'agent-not-running') return false
    throw error
  }
}
