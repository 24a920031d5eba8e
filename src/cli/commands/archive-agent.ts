import { agentRef, required } from '../../operations/index.js'
import { command } from '../command.js'
import { receiptView } from '../views/receipt-view.js'

export const archiveAgent = command({
  name: 'archive',
  summary: 'Archive an agent',
  description: 'It is listed with --all only. It has to be stopped.',
  examples: [['skein archive web/jam', 'Out of the list']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent }, { agents, out }) {
    const receipt = await (await agents()).archive(agent)
    out.result(receipt, () => receiptView(receipt))
  },
})
