import { command } from '../command.js'
import { optional, required } from '../input/input.js'
import { agentRef, freeText, text } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const answer = command({
  name: 'answer',
  summary: "Choose an option of an agent's question",
  description: 'By its label, or by a beginning that only one option has. skein why shows what is asked.',
  examples: [['skein answer web/asker "Yes"', 'Choose by label']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    label: required(freeText('label'), 'The option, as it stands there'),
  },
  options: { token: optional(text('token'), 'The wait that is answered') },
  async run({ agent, label, token }, { agents, out }) {
    const receipt = await (await agents()).answer(agent, { choose: label }, token === undefined ? {} : { token })
    out.result(receipt, () => receiptView(receipt))
  },
})
