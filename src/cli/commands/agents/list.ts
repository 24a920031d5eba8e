import { agentsList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { agentTreeView } from '../../views/agent-tree-view.js'

export const list = operationCommand(agentsList, {
  name: 'agents list',
  summary: 'List agents by group',
  examples: [
    ['skein agents list', 'All agents, as a tree of groups'],
    ['skein agents list --group web --tool claude', 'Some of them'],
  ],
  fields: { agent: undefined, all: undefined },
  prepare: (typed) => ({ ...typed, all: true }),
  show(listed, { out }, { group, tool, role }) {
    const { agents } = listed
    const unfold = [group, tool, role].some((filter) => filter !== undefined)
    out.result(listed, (screen) => agentTreeView({ ...listed, unfold }, screen))
    if (agents.length === 0) out.note('No agents. Add one: skein agents add <address> --tool <tool>')
  },
})
