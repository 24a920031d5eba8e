import { budgetClear } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const clear = operationCommand(budgetClear, {
  name: 'budget clear',
  examples: [['skein budget clear web/demo', 'It may spend what it needs']],
  args: ['agent'],
  view: ({ budgets }) =>
    budgets.map(({ target, name, per }) => safe`Removed the budget of ${target} ${name} (${per})`).join('\n'),
})
