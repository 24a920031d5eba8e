import { agentsAnswer } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const deny = operationCommand(agentsAnswer, {
  name: 'deny',
  summary: 'Deny what an agent asks for',
  description: 'As skein approve does it, with the other answer.',
  examples: [['skein deny web/asker', 'No']],
  args: ['agent'],
  fields: { decision: undefined, choose: undefined },
  prepare: ({ agent, token }) => ({ agent, decision: 'deny' as const, token }),
  view: receiptView,
})
