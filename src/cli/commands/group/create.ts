import { groupCreate } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const create = operationCommand(groupCreate, {
  name: 'group create',
  examples: [['skein group create web/mobile', 'A group in a group; both exist afterwards']],
  args: ['path'],
  view: ({ path }) => safe`Created ${path}`,
})
