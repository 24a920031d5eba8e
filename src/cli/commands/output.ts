import { agentRef, flag, required } from '../../operations/index.js'
import { command } from '../command.js'
import { safeText } from '../screen/safe-text.js'

export const output = command({
  name: 'output',
  summary: "Print an agent's last reply",
  description: 'From the log of its conversation; where there is none, what stands on its screen.',
  examples: [['skein output web/demo', 'What it said last']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { screen: flag('What stands on its screen, in any case') },
  async run({ agent, screen }, { agents, out }) {
    const found = await (await agents()).output(agent, { screen })
    out.result(found, () => found.text.split('\n').map(safeText).join('\n'))
  },
})
