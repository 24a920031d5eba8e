import { agentsUp } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { recoveryLine } from '../views/recovery-view.js'

export const up = operationCommand(agentsUp, {
  name: 'up',
  examples: [['skein up', 'What skein down has stopped']],
  fails: ({ receipts }) => receipts.some(({ outcome }) => outcome === 'refused'),
  show({ receipts }, { out }) {
    for (const one of receipts) out.text(recoveryLine(one))
    if (receipts.length === 0) out.note('No agent was stopped by skein down')
  },
})
