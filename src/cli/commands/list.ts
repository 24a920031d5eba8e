import { agentsNow } from '../agents-now.js'
import { command } from '../command.js'
import { FILTER_OPTIONS, queryOf } from '../input/session-filters.js'
import { runningAgentsView } from '../views/running-agents-view.js'
import { answerWithPage, readPages, withSpent } from '../views/session-pages.js'

/** What only sessions can be asked for. */
const OF_SESSIONS = ['since', 'until', 'outcome', 'title', 'chain', 'work', 'limit', 'cursor', 'in'] as const

export const list = command({
  name: 'list',
  summary: 'List agents and what they are doing',
  description:
    'Each with its state, since when, why, its tool, branch, use of its context and cost. --all shows archived ones as well. With a filter that only sessions know (--since, --outcome, ...) it lists sessions, as skein sessions list does. With --json there are both.',
  examples: [
    ['skein list', 'Who does what'],
    ['skein list --group web --json', 'A group, for scripts'],
    ['skein list --since 7d', 'Sessions of this week'],
  ],
  args: {},
  options: FILTER_OPTIONS,
  async run(filters, cli) {
    const { out } = cli
    const home = await cli.home()
    const page = await readPages(home, queryOf(filters, cli), { all: false })
    if (OF_SESSIONS.some((name) => filters[name] !== undefined) && !out.json) return answerWithPage(home, out, page)
    const { rig: group, tool, role, agent, all } = filters
    const found = await agentsNow(cli, { all, ...(group === undefined ? {} : { group }) })
    const wanted = agent === undefined ? undefined : await home.roster.agent(agent)
    const agents = found.filter(
      (one) =>
        (tool === undefined || one.tool === tool) &&
        (role === undefined || one.role === role) &&
        (wanted === undefined || one.id === wanted.id),
    )
    const spent = await home.history.spent(page.sessions.map(({ id }) => id))
    const sessions = page.sessions.map((session) => withSpent(session, spent))
    out.result({ agents, ...page, sessions }, (screen) => runningAgentsView(agents, screen))
    if (agents.length === 0 && !out.json)
      out.note('No agents. Start one: skein start . --tool <tool>. Sessions: skein sessions list')
  },
})
