import { agentsSleep } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const sleep = operationCommand(agentsSleep, {
  name: 'sleep',
  examples: [['skein sleep --group web', 'Free the memory of the idle agents of a group']],
  args: ['agents'],
  fails: ({ failures }) => failures !== undefined,
  show: ({ receipts, failures }, cli) =>
    showEach({ done: receipts, failures }, receiptView, cli, 'No agent is idle there'),
})
