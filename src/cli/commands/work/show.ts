import { workShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { workCard } from '../../views/work-view.js'

export const show = operationCommand(workShow, {
  name: 'work show',
  examples: [['skein work show w-42', 'All there is about a unit']],
  args: ['work'],
  view: (unit, screen) => workCard(unit, screen),
})
