import { agentsWhy } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { explanationView } from '../views/explanation-view.js'

export const why = operationCommand(agentsWhy, {
  name: 'why',
  examples: [['skein why web/demo', 'Why does it have this status?']],
  args: ['agent'],
  view: explanationView,
})
