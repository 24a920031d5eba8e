import { agentRef, optional, present, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { AGENT_FACT_OPTIONS, agentFactsOf } from '../../input/agent-facts.js'
import { safe } from '../../screen/safe-text.js'

export const add = command({
  name: 'agents add',
  summary: 'Add an agent',
  description: 'An address is a path of groups and a name: web/backend/api. Groups that do not exist yet are created.',
  examples: [
    ['skein agents add web/honey --tool claude --role reviewer', 'An agent called honey in the group web'],
    ['skein agents add scout --tool codex --parent web/toast', 'An agent in no group, spawned by another'],
  ],
  args: { address: required(text('address', 'group'), 'Where it lives, and its name') },
  options: {
    tool: required(text('tool'), 'The program it runs: claude, codex, gemini ...'),
    ...AGENT_FACT_OPTIONS,
    parent: optional(agentRef, 'The agent that spawned it'),
  },
  async run({ address, tool, parent, ...given }, { home, out }) {
    const agent = await (await home()).roster.add({ address, tool, ...agentFactsOf(given), ...present({ parent }) })
    out.result(agent, () => safe`Added ${agent.address} (${agent.tool})`)
  },
})
