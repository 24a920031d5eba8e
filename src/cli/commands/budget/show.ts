import { budgetShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { budgetView } from '../../views/budget-view.js'

export const show = operationCommand(budgetShow, {
  name: 'budget show',
  examples: [['skein budget show', 'Every budget, and what was spent of it']],
  args: ['agent'],
  view: budgetView,
})
