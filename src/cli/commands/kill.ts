import { agentsKill } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const kill = operationCommand(agentsKill, {
  name: 'kill',
  examples: [
    ['skein kill web/demo', 'Kill one'],
    ['skein kill --all', 'Kill every agent that runs'],
  ],
  args: ['agents'],
  fails: ({ failures }) => failures !== undefined,
  show: ({ receipts, failures }, cli) =>
    showEach({ done: receipts, failures }, receiptView, cli, 'No agent runs there'),
})
