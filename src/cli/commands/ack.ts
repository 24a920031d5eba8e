import { agentsAck } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const ack = operationCommand(agentsAck, {
  name: 'ack',
  examples: [
    ['skein ack web/demo', 'I have seen it'],
    ['skein ack --all', 'I have seen all of them'],
  ],
  args: ['agents'],
  fails: (done) => 'failures' in done,
  show(done, cli) {
    const { receipts, failures } = 'receipts' in done ? done : { receipts: [done] }
    showEach({ done: receipts, failures }, receiptView, cli, 'Nothing to acknowledge there')
  },
})
