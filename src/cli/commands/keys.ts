import { agentRef, repeated, required, text } from '../../operations/index.js'
import { command } from '../command.js'
import { usageError } from '../usage-error.js'
import { receiptView } from '../views/receipt-view.js'

export const keys = command({
  name: 'keys',
  summary: 'Press keys in an agent',
  description:
    "By tmux's names (Enter, Escape, C-c, Down) or one character each. Nothing is checked: in a dialog a key is an answer.",
  examples: [['skein keys web/demo Escape', 'Interrupt it']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    keys: repeated(text('key'), 'The keys, in order'),
  },
  options: {},
  async run({ agent, keys: pressed }, { agents, out }) {
    if (pressed.length === 0) throw usageError('Missing <keys>', 'Usage: skein keys <agent> <keys...>')
    const receipt = await (await agents()).keys(agent, pressed)
    out.result(receipt, () => receiptView(receipt))
  },
})
