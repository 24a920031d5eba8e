import { groupSet } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const set = operationCommand(groupSet, {
  name: 'group set',
  examples: [
    ['skein group set web --name "Web apps" --order 0', 'A name for people, and the first place'],
    ['skein group set attic --folded', 'One line for it in lists'],
  ],
  args: ['group'],
  view: ({ path, name, order, expanded }) =>
    safe`${path} is shown as ${JSON.stringify(name)}, order ${order}, ${expanded ? 'expanded' : 'folded'}`,
})
