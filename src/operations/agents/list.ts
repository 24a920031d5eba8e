import type { AgentView } from '../../lifecycle/index.js'
import { flattenRoster, type Group, type GroupPath, groupLineage, isWithin, parseGroupPath } from '../../model/index.js'
import { flag, optional } from '../field.js'
import { agentRef, groupRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

/** In display order. */
export interface ListedAgents {
  agents: AgentView[]
  groups: Group[]
}

export const agentsList = operation({
  name: 'agents.list',
  does: 'reads',
  where: 'daemon',
  summary: 'List agents and what they are doing',
  input: {
    group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }),
    tool: optional(text('tool'), 'Only agents that run this tool'),
    role: optional(text('role'), 'Only agents in this role'),
    agent: optional(agentRef, 'Only this agent'),
    all: flag('Archived agents as well'),
  },
  result: 'running-agents',
  async run({ group, tool, role, agent, all }, { home, live }): Promise<ListedAgents> {
    const { roster } = await home()
    const groups = await roster.groups()
    const within = group === undefined ? undefined : parseGroupPath(group)
    if (within && !groups.some(({ path }) => path === within)) await roster.agents({ group: within }) // says which ones there are
    const found = await live.list({ all, ...present({ group }) })
    const wanted = agent === undefined ? undefined : await roster.agent(agent)
    const agents = found.filter(
      (one) =>
        (tool === undefined || one.tool === tool) &&
        (role === undefined || one.role === role) &&
        (wanted === undefined || one.id === wanted.id),
    )
    const used = new Set(agents.flatMap(({ group_path }) => (group_path ? groupLineage(group_path) : [])))
    const isNarrow = tool !== undefined || role !== undefined || wanted !== undefined
    const isShown = ({ path }: Group): boolean => used.has(path) || (!isNarrow && isOn(path, within))
    const rows = flattenRoster(groups, agents)
    return {
      agents: rows.flatMap((row) => (row.kind === 'agent' ? row.agent : [])),
      groups: rows.flatMap((row) => (row.kind === 'group' && isShown(row.group) ? row.group : [])),
    }
  },
})

/** Whether a group contains another one, or is in it. */
const isOn = (path: GroupPath, other: GroupPath | undefined): boolean =>
  other === undefined || isWithin(path, other) || isWithin(other, path)
