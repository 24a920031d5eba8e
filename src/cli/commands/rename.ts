import { agentsRename } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const rename = operationCommand(agentsRename, {
  name: 'rename',
  examples: [['skein rename web/toast crumb', 'web/toast becomes web/crumb']],
  args: ['agent', 'name'],
  view: receiptView,
})
