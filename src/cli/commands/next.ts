import { nextOf, wakeDaemon } from '../../daemon/index.js'
import type { AgentView } from '../../lifecycle/index.js'
import { asksLine, formatDuration, msOf, SkeinError } from '../../model/index.js'
import { flag } from '../../operations/index.js'
import { askDaemon } from '../agents-now.js'
import { type Cli, command } from '../command.js'
import { safe } from '../screen/safe-text.js'
import { visit } from '../visit.js'

export const next = command({
  name: 'next',
  summary: 'Go to the agent that has waited for you longest',
  description:
    'Who needs an answer comes first, then who has failed, then who has finished. In a terminal it attaches, which marks what has finished as seen; elsewhere, and with --print or --json, it says which one it is.',
  examples: [
    ['skein next', 'Attach to it'],
    ['skein next --print', 'Only say which one it is'],
    ['skein next --json', 'The same, for scripts'],
  ],
  args: {},
  options: { print: flag('Say which one it is, and stay here') },
  async run({ print }, cli) {
    const { out } = cli
    const agent = await nextAgent(cli)
    if (!agent) return out.result({}, () => 'No agent waits for you')
    if (!print && !out.json && (await attach(agent, cli))) return
    out.result({ agent }, ({ nowMs }) => {
      const age = formatDuration(nowMs - msOf(agent.since))
      const { asks = [], reason, waiting_for } = agent
      const why = asks[0]?.what === undefined ? (reason ?? waiting_for ?? '') : asksLine(asks)
      return safe`${agent.address}  ${agent.status} for ${age}: ${why}`
    })
  },
})

/** False when there is nobody to attach, or nothing left to attach to. */
async function attach({ id }: AgentView, cli: Cli): Promise<boolean> {
  try {
    return await visit(id, cli)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'agent-not-running') return false
    throw error
  }
}

/** Asked of the daemon when one runs; else by looking at every agent now. */
async function nextAgent(cli: Cli): Promise<AgentView | undefined> {
  await wakeDaemon(cli.daemon, cli.profile)
  const answer = (await askDaemon(cli, '/v1/next')) as { agent?: AgentView } | undefined
  return answer ? answer.agent : nextOf(await (await cli.agents()).list())
}
