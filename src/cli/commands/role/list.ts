import { roleList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { roleTable } from '../../views/role-view.js'

export const list = operationCommand(roleList, {
  name: 'role list',
  examples: [['skein role list', 'Every role, with the names and the directory of its agents']],
  view: ({ roles }, screen) => roleTable(roles, screen),
})
