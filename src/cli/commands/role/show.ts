import { roleShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { roleCard } from '../../views/role-view.js'

export const show = operationCommand(roleShow, {
  name: 'role show',
  examples: [['skein role show crew', 'One role']],
  args: ['role'],
  view: roleCard,
})
