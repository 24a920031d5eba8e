import { lastSegment } from '../../../model/index.js'
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
          { header: 'NAME', text: (group) => (group.name === lastSegment(group.path) ? '' : group.name), shrinkTo: 10 },
          { header: 'ORDER', text: (group) => String(group.order), align: 'right' },
          { header: 'SHOWN', text: (group) => (group.expanded ? '' : 'folded') },
          { header: 'PARKED', text: ({ parked }) => (parked ? (parked.reason ?? 'yes') : ''), shrinkTo: 8 },
          { header: 'AGENTS', text: (group) => String(group.agents), align: 'right' },
        ],
        screen,
      ),
    )
  },
})
