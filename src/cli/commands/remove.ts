import { agentsRemove, usageError } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const remove = operationCommand(agentsRemove, {
  name: 'remove',
  examples: [
    ['skein remove web/jam', 'Take it off the list'],
    ['skein remove --undo', 'Bring back the one that was removed last'],
  ],
  args: ['agent'],
  prepare(typed) {
    if (typed.agent === undefined && !typed.undo) throw usageError('Missing <agent>', 'Usage: skein remove <agent>')
    return typed
  },
  view: receiptView,
})
