import { agentsList, type ListedAgents } from './agents/list.js'
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
    "Shows each agent's status, since when and why, its tool, branch, context size and cost. --all includes archived agents. With a filter that applies only to sessions (--since, --outcome, ...) it lists sessions, like skein sessions list. With --json it prints both.",
  input: FILTERS,
  result: 'agent-list',
  async run(filters, context): Promise<ListedAgents & ShownPage> {
    const { rig: group, tool, role, agent, all } = filters
    const page = await pageOf(await context.home(), filterOf(filters), { all: false })
    const listed = await agentsList.run({ group, tool, role, agent, all }, context)
    return { ...listed, ...page }
  },
})
