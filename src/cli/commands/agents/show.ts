import { agentRef, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { agentCard } from '../../views/agent-card.js'

export const show = command({
  name: 'agents show',
  summary: 'Show one agent',
  examples: [['skein agents show web/toast', 'By its address']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent: reference }, { home, out }) {
    const { roster } = await home()
    const agent = await roster.agent(reference)
    const spawner = agent.parent_id && !out.json ? await roster.agent(agent.parent_id) : undefined
    out.result(agent, (screen) => agentCard(agent, spawner, screen))
  },
})
