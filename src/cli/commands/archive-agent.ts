import { agentsArchive } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const archiveAgent = operationCommand(agentsArchive, {
  name: 'archive',
  examples: [['skein archive web/jam', 'Out of the list']],
  args: ['agent'],
  view: receiptView,
})
