import { agentRef, momentToCome, required } from '../../operations/index.js'
import { command } from '../command.js'
import { receiptView } from '../views/receipt-view.js'

export const snooze = command({
  name: 'snooze',
  summary: 'Hide a finished reply for a while',
  description: 'It comes back when the time is over, or with the next reply. A question is never hidden.',
  examples: [['skein snooze web/demo 30m', 'In half an hour again']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    until: required(momentToCome, 'For how long, or until when'),
  },
  options: {},
  async run({ agent, until }, { agents, out }) {
    const receipt = await (await agents()).snooze(agent, until)
    out.result(receipt, () => receiptView(receipt))
  },
})
