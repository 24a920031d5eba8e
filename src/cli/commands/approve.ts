import { agentsAnswer, flag } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const approve = operationCommand(agentsAnswer, {
  name: 'approve',
  summary: 'Allow what an agent asks for',
  description:
    "Uses the tool's own protocol if it has one; otherwise selects the option in its dialog and checks the screen before Enter. Never chooses an option that stops the tool from asking. With --token, an answer to an older question is refused; skein why shows the token.",
  examples: [['skein approve web/asker', 'This once']],
  args: ['agent'],
  fields: { decision: undefined, choose: undefined },
  own: { always: flag('Do not ask again for the same request, if the tool offers that') },
  order: ['always', 'token'],
  prepare: ({ agent, always, token }) => ({
    agent,
    decision: always ? ('allow-always' as const) : ('allow' as const),
    token,
  }),
  view: receiptView,
})
