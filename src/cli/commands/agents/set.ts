import { agentRef, optional, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { AGENT_FACT_OPTIONS, agentFactsOf } from '../../input/agent-facts.js'
import { safe } from '../../screen/safe-text.js'
import { usageError } from '../../usage-error.js'

export const set = command({
  name: 'agents set',
  summary: 'Change facts about an agent',
  examples: [['skein agents set web/toast --title "Front end" --role builder', 'A title and a role']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { tool: optional(text('tool'), 'The program it runs'), ...AGENT_FACT_OPTIONS },
  async run({ agent: reference, tool, ...given }, { home, agents, out }) {
    const facts = agentFactsOf(given)
    if (Object.keys(facts).length === 0 && tool === undefined) {
      throw usageError('Nothing to change', 'Say what to change, for example --title. See: skein agents set --help')
    }
    if (tool !== undefined) await (await agents()).setTool(reference, tool)
    const { roster } = await home()
    const agent = await (Object.keys(facts).length > 0 ? roster.update(reference, facts) : roster.agent(reference))
    out.result(agent, () => safe`Updated ${agent.address}`)
  },
})
