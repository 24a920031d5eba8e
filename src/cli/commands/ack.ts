import { command } from '../command.js'
import { required } from '../input/input.js'
import { agentRef } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const ack = command({
  name: 'ack',
  summary: 'Say that a finished reply was seen',
  description: 'The agent then counts as idle until its next reply. A question is not answered by it.',
  examples: [['skein ack web/demo', 'I have seen it']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent }, { agents, out }) {
    const receipt = await (await agents()).ack(agent)
    out.result(receipt, () => receiptView(receipt))
  },
})
