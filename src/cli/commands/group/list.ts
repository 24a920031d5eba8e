import { groupList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { table } from '../../screen/table.js'

export const list = operationCommand(groupList, {
  name: 'group list',
  examples: [['skein group list', 'All groups and how many agents are in them']],
  show({ groups }, { out }) {
    if (groups.length === 0) return out.note('No groups. Create one: skein group create <path>')
    out.result({ groups }, (screen) =>
      table(
        groups,
        [
          { header: 'GROUP', text: (group) => group.path, shrinkTo: 10 },
          { header: 'AGENTS', text: (group) => String(group.agents), align: 'right' },
        ],
        screen,
      ),
    )
  },
})
