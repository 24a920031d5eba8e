import type { AgentView } from '../../lifecycle/index.js'
import { flag, optional } from '../field.js'
import { agentRef, groupRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

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
  async run({ group, tool, role, agent, all }, { home, live }): Promise<{ agents: AgentView[] }> {
    const found = await live.list({ all, ...present({ group }) })
    const wanted = agent === undefined ? undefined : await (await home()).roster.agent(agent)
    const agents = found.filter(
      (one) =>
        (tool === undefined || one.tool === tool) &&
        (role === undefined || one.role === role) &&
        (wanted === undefined || one.id === wanted.id),
    )
    return { agents }
  },
})
