import { isWithin } from '../../../model/index.js'
import { command } from '../../command.js'
import { table } from '../../screen/table.js'

export const list = command({
  name: 'group list',
  summary: 'List groups',
  examples: [['skein group list', 'All groups and how many agents are in them']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const { roster } = await home()
    const agents = await roster.agents()
    const groups = (await roster.groups()).map((group) => ({
      ...group,
      agents: agents.filter((agent) => agent.group_path && isWithin(agent.group_path, group.path)).length,
    }))
    out.result({ groups }, (screen) =>
      groups.length === 0
        ? ''
        : table(
            groups,
            [
              { header: 'GROUP', text: (group) => group.path, shrinkTo: 10 },
              { header: 'AGENTS', text: (group) => String(group.agents), align: 'right' },
            ],
            screen,
          ),
    )
    if (groups.length === 0 && !out.json) out.note('No groups. Create one: skein group create <path>')
  },
})
