import { sling as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'
import { receiptView } from '../views/receipt-view.js'

export const sling = operationCommand(operation, {
  name: 'sling',
  examples: [['skein sling w-42 web --tool demo --repo repo', 'Whoever of web has nothing to do, or a new agent']],
  args: ['work', 'group'],
  view: (receipt) => {
    const { worktree, branch = '' } = receipt
    const place = worktree === undefined ? '' : safe`\nIt works in ${worktree} on ${branch}`
    return receiptView(receipt) + place
  },
})
