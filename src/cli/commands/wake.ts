import { agentsWake } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const wake = operationCommand(agentsWake, {
  name: 'wake',
  examples: [['skein wake --all', 'Start every agent that is asleep, each in its conversation']],
  args: ['agents'],
  fails: ({ failures }) => failures !== undefined,
  show: ({ receipts, failures }, cli) =>
    showEach({ done: receipts, failures }, receiptView, cli, 'No agent is asleep there'),
})
