import { agentsMove } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const move = operationCommand(agentsMove, {
  name: 'move',
  examples: [['skein move web/toast kitchen', 'web/toast becomes kitchen/toast']],
  args: ['agent', 'group'],
  view: receiptView,
})
