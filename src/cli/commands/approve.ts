import { command } from '../command.js'
import { flag, optional, required } from '../input/input.js'
import { agentRef, text } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const approve = command({
  name: 'approve',
  summary: 'Allow what an agent asks for',
  description:
    "By the tool's own protocol where it has one; else in its dialog, by moving to the option that means it and checking the screen before Enter. Never an option that stops the tool from asking. With --token an answer to an older question is refused; skein why shows the token.",
  examples: [['skein approve web/asker', 'This once']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {
    always: flag('And do not ask again for the same, where the tool offers that'),
    token: optional(text('token'), 'The wait that is answered'),
  },
  async run({ agent, always, token }, { agents, out }) {
    const decision = always ? 'allow-always' : 'allow'
    const receipt = await (await agents()).answer(agent, { decision }, token === undefined ? {} : { token })
    out.result(receipt, () => receiptView(receipt))
  },
})
