import { command } from '../command.js'
import { optional, required } from '../input/input.js'
import { agentRef, text } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const deny = command({
  name: 'deny',
  summary: 'Deny what an agent asks for',
  description: 'As skein approve does it, with the other answer.',
  examples: [['skein deny web/asker', 'No']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { token: optional(text('token'), 'The wait that is answered') },
  async run({ agent, token }, { agents, out }) {
    const receipt = await (await agents()).answer(agent, { decision: 'deny' }, token === undefined ? {} : { token })
    out.result(receipt, () => receiptView(receipt))
  },
})
