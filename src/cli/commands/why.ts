import { agentsWhy } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { explanationView } from '../views/explanation-view.js'

export const why = operationCommand(agentsWhy, {
  name: 'why',
  examples: [['skein why web/demo', 'Why is it so?']],
  args: ['agent'],
  view: explanationView,
})
