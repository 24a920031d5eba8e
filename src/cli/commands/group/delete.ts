import { groupDelete } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const deleteGroup = operationCommand(groupDelete, {
  name: 'group delete',
  examples: [
    ['skein group delete attic', 'A group without agents'],
    ['skein group delete kitchen --move-to web', 'Keep its agents, in another group'],
  ],
  args: ['group'],
  view: ({ deleted, moved }, _, { move_to: to = '' }) =>
    moved === 0 ? safe`Deleted ${deleted}` : safe`Deleted ${deleted} and moved ${plural(moved, 'agent')} to ${to}`,
})
