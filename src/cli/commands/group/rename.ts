import { groupRename } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const rename = operationCommand(groupRename, {
  name: 'group rename',
  examples: [
    ['skein group rename lab bench', 'Another name in the same place'],
    ['skein group rename lab ops/lab', 'Another place in the tree'],
  ],
  args: ['group', 'to'],
  view: ({ path }, _, { group }) => safe`Renamed ${group} to ${path}`,
})
