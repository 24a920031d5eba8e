import { agentsStop } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const stop = operationCommand(agentsStop, {
  name: 'stop',
  examples: [
    ['skein stop web/demo', 'Stop one'],
    ['skein stop web/demo kitchen/knife', 'Stop several'],
    ['skein stop --group web', 'Stop the running agents of a group'],
  ],
  args: ['agents'],
  fails: ({ failures }) => failures !== undefined,
  show: ({ receipts, failures }, cli) =>
    showEach({ done: receipts, failures }, receiptView, cli, 'No agent runs there'),
})
