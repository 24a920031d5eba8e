import { agentsKeys } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const keys = operationCommand(agentsKeys, {
  name: 'keys',
  examples: [['skein keys web/demo Escape', 'Interrupt it']],
  args: ['agent', 'keys'],
  view: receiptView,
})
