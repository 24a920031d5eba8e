import { agentsAnswer } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const deny = operationCommand(agentsAnswer, {
  name: 'deny',
  summary: 'Deny what an agent asks for',
  description: 'Works like skein approve, with the opposite answer.',
  examples: [['skein deny web/asker', 'No']],
  args: ['agent'],
  fields: { decision: undefined, choose: undefined },
  prepare: ({ agent, token }) => ({ agent, decision: 'deny' as const, token }),
  view: receiptView,
})
