import { agentRef, groupRef, optional, required } from '../../operations/index.js'
import { command } from '../command.js'
import { receiptView } from '../views/receipt-view.js'

export const move = command({
  name: 'move',
  summary: 'Move an agent to another group',
  description: 'Without a group it moves to the top. The tmux session it runs in is renamed with it.',
  examples: [['skein move web/toast kitchen', 'web/toast becomes kitchen/toast']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    group: optional(groupRef, 'The group to move it to'),
  },
  options: {},
  async run({ agent, group }, { agents, out }) {
    const receipt = await (await agents()).move(agent, group)
    out.result(receipt, () => receiptView(receipt))
  },
})
