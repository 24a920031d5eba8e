import { command } from '../../command.js'
import { optional } from '../../input/input.js'
import { present } from '../../input/present.js'
import { groupRef, text } from '../../input/value-kind.js'
import { agentTreeView } from '../../views/agent-tree-view.js'

export const list = command({
  name: 'agents list',
  summary: 'List agents by group',
  examples: [
    ['skein agents list', 'All agents, as a tree of groups'],
    ['skein agents list --group web --tool claude', 'Some of them'],
  ],
  args: {},
  options: {
    group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }),
    tool: optional(text('tool'), 'Only agents that run this tool'),
    role: optional(text('role'), 'Only agents in this role'),
  },
  async run({ group, tool, role }, { home, out }) {
    const { roster } = await home()
    const agents = await roster.agents(present({ group, tool, role }))
    out.result({ agents }, (screen) => agentTreeView(agents, screen))
    if (agents.length === 0 && !out.json) out.note('No agents. Add one: skein agents add <address> --tool <tool>')
  },
})
