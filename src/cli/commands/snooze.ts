import { agentsSnooze } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const snooze = operationCommand(agentsSnooze, {
  name: 'snooze',
  examples: [['skein snooze web/demo 30m', 'For half an hour']],
  args: ['agent', 'until'],
  view: receiptView,
})
