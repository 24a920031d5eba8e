import { budgetSet } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { budgetView } from '../../views/budget-view.js'

export const set = operationCommand(budgetSet, {
  name: 'budget set',
  examples: [
    ['skein budget set web/demo --soft 4usd --hard 5usd', 'Warn at $4, stop at $5'],
    ['skein budget set --group web --per day --hard 2Mtok', 'Two million tokens a day for a whole group'],
  ],
  args: ['agent'],
  view: budgetView,
})
