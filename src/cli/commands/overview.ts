import type { Home, IngestReport } from '../../home/index.js'
import type { AgentView } from '../../lifecycle/index.js'
import { DAY_MS, instantOf, SkeinError } from '../../model/index.js'
import { agentsList, type ListedAgents, readInput, withSpent } from '../../operations/index.js'
import { programPath } from '../../tools/index.js'
import { type Cli, command } from '../command.js'
import { perform } from '../perform.js'
import { errorLine } from '../report-error.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { wrap } from '../screen/wrap.js'
import { expectShortRun } from '../short-run.js'
import { runningAgentsView } from '../views/running-agents-view.js'
import { sessionTable, shortIdsOf } from '../views/session-table.js'
import { noteUnreadable } from '../views/unreadable-logs.js'

const NEWEST = 10

/**
 * What `skein` alone says: the agents, the newest sessions, the spend, and how to go on. The first time it reads every log it
 * finds, so that new users see something of theirs within the first minute.
 */
export const overview = command({
  name: '',
  summary: 'Show agents, the newest sessions and what they cost',
  examples: [['skein', 'Everything at a glance']],
  args: {},
  options: {},
  async run(_, cli) {
    expectShortRun()
    const { out } = cli
    const home = await cli.home()
    const read = await home.history.ingest()
    if (!out.json) noteUnreadable(read, out)
    const { agents, groups } = await agentsToShow(cli, home)
    const { sessions } = await home.sessions.query({ limit: NEWEST })
    const spent = await home.history.spent(sessions.map(({ id }) => id))
    const short = await shortIdsOf(home, sessions)
    const spend = await spending(home, cli.nowMs)
    const tool = agents.length > 0 ? '' : await installedTool(home)
    const withCost = sessions.map((session) => withSpent(session, spent))
    if (agents.length + sessions.length === 0 && !out.json) return out.text(await firstSteps(cli, home))
    out.result({ agents, read, sessions: withCost, spend }, (screen) => {
      const sums =
        sessions.length === 0
          ? ''
          : wrap(
              `Spent: ${money(spend.today)} today, ${money(spend.week)} in 7 days, ${money(spend.month)} in 30 days, ${money(spend.all)} in all`,
              screen.width,
            ).join('\n')
      const parts = [agentsPart({ agents, groups }, screen), foundPart(read), sessionTable(withCost, screen, short)]
      return [...parts, sums, hints(agents, tool)].filter((part) => part !== '').join('\n\n')
    })
  },
})

const NONE: ListedAgents = { agents: [], groups: [] }

/** What went wrong with them is said by `skein list`; here it must not hide everything else. */
async function agentsToShow(cli: Cli, home: Home): Promise<ListedAgents> {
  try {
    if ((await home.roster.agents()).length === 0) return NONE
    return await perform(agentsList, readInput(agentsList, {}, cli), cli)
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    cli.out.note(errorLine(error))
    return NONE
  }
}

const agentsPart = (listed: ListedAgents, screen: Screen): string =>
  listed.agents.length === 0 ? '' : runningAgentsView(listed, screen)

const foundPart = ({ sessions_found, logs }: IngestReport): string =>
  sessions_found > 0 ? `Found ${plural(sessions_found, 'session')} in ${plural(logs, 'log')}.` : ''

async function spending(home: Home, nowMs: number) {
  const since = async (ms: number) => (await home.history.cost({ by: 'month', since: instantOf(ms) })).total
  return {
    today: await since(new Date(nowMs).setHours(0, 0, 0, 0)), // as `skein cost` has its days: from midnight
    week: await since(nowMs - 7 * DAY_MS),
    month: await since(nowMs - 30 * DAY_MS),
    all: (await home.history.cost({ by: 'month' })).total,
  }
}

/** Where was looked, and how to begin, for somebody who has nothing yet. */
async function firstSteps({ out, daemon }: Cli, home: Home): Promise<string> {
  const [roots, environment] = await Promise.all([home.history.roots(), home.programs.environment()])
  const user = environment.home
  const short = (path: string): string => safeText(path.startsWith(`${user}/`) ? `~${path.slice(user.length)}` : path)
  const places = lines([...new Set(roots.map(({ path }) => short(path)))], out.screen.width)
  return [
    'No agents yet, and no sessions of agent programs on this machine. Looked in:',
    ...places,
    `Add other places under [logs] in ${short(daemon.configFile)}.`,
    '',
    'Begin:',
    ...pairs([
      [`skein start . --tool ${await installedTool(home)}`, 'run an agent in this directory'],
      ['skein tool list', 'the programs that can be run'],
      ['skein --help', 'every command'],
    ]),
  ].join('\n')
}

/** A program that is there; else the one that is meant when none is named. */
async function installedTool({ programs }: Home): Promise<string> {
  const [runners, environment] = await Promise.all([programs.runners(), programs.environment()])
  const isThere = ({ name }: { name: string }): boolean =>
    programPath(runners.definitionOf(name)?.command[0] ?? name, environment) !== undefined
  return runners.all.find(isThere)?.name ?? 'claude'
}

/** Words in as few lines as fit, indented by two. */
function lines(words: readonly string[], width: number): string[] {
  const found: string[] = []
  for (const word of words) {
    const last = found.at(-1)
    if (last !== undefined && last.length + 2 + word.length <= Math.min(width, 100))
      found[found.length - 1] = `${last}  ${word}`
    else found.push(`  ${word}`)
  }
  return found
}

const hints = (agents: readonly AgentView[], tool: string): string => {
  const first: readonly [string, string] =
    agents.length > 0
      ? ['skein next', 'go to the agent that has waited longest']
      : [`skein start . --tool ${tool}`, 'run an agent in this directory']
  const others: readonly (readonly [string, string])[] = [
    ['skein show <id>', 'everything about one session'],
    ['skein turns <id>', 'what was asked and done'],
    ['skein cost --by model', 'where the money goes'],
    ['skein sessions list --all', 'every session'],
    ['skein --help', 'every command'],
  ]
  return ['Next:', ...pairs([first, ...others])].join('\n')
}

/** Commands with what they do, aligned. */
function pairs(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${safeText(left).padEnd(width)}  ${right}`)
}
