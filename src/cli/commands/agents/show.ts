import { agentsShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { agentCard } from '../../views/agent-card.js'

export const show = operationCommand(agentsShow, {
  name: 'agents show',
  examples: [['skein agents show web/toast', 'By its address']],
  args: ['agent'],
  async show(agent, { home, out }) {
    const { roster } = await home()
    const spawner = agent.parent_id ? await roster.agent(agent.parent_id) : undefined
    out.result(agent, (screen) => agentCard(agent, spawner, screen))
  },
})
