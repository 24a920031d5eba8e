import { agentsRemove, usageError } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const remove = operationCommand(agentsRemove, {
  name: 'remove',
  examples: [
    ['skein remove web/jam', 'Remove an agent'],
    ['skein remove --undo', 'Restore the agent that was removed last'],
  ],
  args: ['agent'],
  prepare(typed) {
    if (typed.agent === undefined && !typed.undo) throw usageError('Missing <agent>', 'Usage: skein remove <agent>')
    return typed
  },
  view: receiptView,
})
