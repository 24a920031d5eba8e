import { agentsAnswer, flag } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const approve = operationCommand(agentsAnswer, {
  name: 'approve',
  summary: 'Allow what an agent asks for',
  description:
    "By the tool's own protocol where it has one; else in its dialog, by moving to the option that means it and checking the screen before Enter. Never an option that stops the tool from asking. With --token an answer to an older question is refused; skein why shows the token.",
  examples: [['skein approve web/asker', 'This once']],
  args: ['agent'],
  fields: { decision: undefined, choose: undefined },
  own: { always: flag('And do not ask again for the same, where the tool offers that') },
  order: ['always', 'token'],
  prepare: ({ agent, always, token }) => ({
    agent,
    decision: always ? ('allow-always' as const) : ('allow' as const),
    token,
  }),
  view: receiptView,
})
