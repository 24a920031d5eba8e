import { groupUnpark } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const unpark = operationCommand(groupUnpark, {
  name: 'group unpark',
  examples: [['skein group unpark web', 'Agents may start in web again']],
  args: ['group'],
  view: ({ path }) => safe`${path} is not parked`,
})
