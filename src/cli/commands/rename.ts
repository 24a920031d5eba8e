import { agentRef, required, text } from '../../operations/index.js'
import { command } from '../command.js'
import { receiptView } from '../views/receipt-view.js'

export const rename = command({
  name: 'rename',
  summary: 'Rename an agent',
  description: 'It stays in its group; the tmux session it runs in is renamed with it.',
  examples: [['skein rename web/toast crumb', 'web/toast becomes web/crumb']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    name: required(text('name'), 'The new name, without a group'),
  },
  options: {},
  async run({ agent, name }, { agents, out }) {
    const receipt = await (await agents()).rename(agent, name)
    out.result(receipt, () => receiptView(receipt))
  },
})
