import type { AgentView } from '../lifecycle/index.js'
import { agentsList } from './agents/list.js'
import { operation } from './operation.js'
import { FILTERS, filterOf } from './sessions/filters.js'
import { pageOf, type ShownPage } from './sessions/page.js'

/** Agents and sessions in one answer: what `skein list` is asked for. */
export const list = operation({
  name: 'list',
  does: 'reads',
  where: 'daemon',
  summary: 'List agents and what they are doing',
  description:
    'Each with its state, since when, why, its tool, branch, use of its context and cost. --all shows archived ones as well. With a filter that only sessions know (--since, --outcome, ...) it lists sessions, as skein sessions list does. With --json there are both.',
  input: FILTERS,
  result: 'agent-list',
  async run(filters, context): Promise<{ agents: AgentView[] } & ShownPage> {
    const { rig: group, tool, role, agent, all } = filters
    const page = await pageOf(await context.home(), filterOf(filters), { all: false })
    const { agents } = await agentsList.run({ group, tool, role, agent, all }, context)
    return { agents, ...page }
  },
})
