import { agentRef, required } from '../../operations/index.js'
import { command } from '../command.js'
import { receiptView } from '../views/receipt-view.js'

export const unarchive = command({
  name: 'unarchive',
  summary: 'Bring an archived agent back',
  description: 'It is listed again, and can be started.',
  examples: [['skein unarchive web/jam', 'Back in the list']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent }, { agents, out }) {
    const receipt = await (await agents()).unarchive(agent)
    out.result(receipt, () => receiptView(receipt))
  },
})
