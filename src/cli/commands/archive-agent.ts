import { command } from '../command.js'
import { required } from '../input/input.js'
import { agentRef } from '../input/value-kind.js'
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
