import { agentsUnarchive } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const unarchive = operationCommand(agentsUnarchive, {
  name: 'unarchive',
  examples: [['skein unarchive web/jam', 'Back in the list']],
  args: ['agent'],
  view: receiptView,
})
