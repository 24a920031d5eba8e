import { resolve } from 'node:path'
import type { Agents, StartAgent, StartNow } from '../../lifecycle/index.js'
import { flag, freeText, isDown, optional, repeated, sessionRef, text, usageError } from '../../operations/index.js'
import { type Cli, command } from '../command.js'
import { FORCE_START, LAUNCH_OPTIONS, launchIn, launchOf } from '../input/agent-launch.js'
import { receiptView } from '../views/receipt-view.js'
import { answerWithReceipts } from '../views/receipts-view.js'
import { refuseUnattended, visit } from '../visit.js'

export const start = command({
  name: 'start',
  summary: 'Start agents',
  description:
    "Runs the agent in Skein's own tmux server, in the given directory or the current one. Returns once the program is running. An existing agent starts as before, in its conversation. With --resume, the session's own agent, or a new one, continues any past session, including one begun outside Skein, with the tool and directory of its record. Several agents are started in parallel, with one receipt each; exit code 1 if any of them failed.",
  examples: [
    ['skein start . --agent web/demo --tool claude', 'A new agent in this directory'],
    ['skein start web/demo --prompt "fix the login"', 'An existing agent, with a prompt'],
    ['skein start --all --group lab', 'Every agent of a group that is not running'],
  ],
  args: { where: repeated(text('directory', 'directory'), 'Working directory, or an existing agent') },
  options: {
    ...LAUNCH_OPTIONS,
    resume: optional(sessionRef, 'Continue this past session: id, beginning of an id, or agent'),
    worktree: flag('Work in a new git worktree, on a branch of its own'),
    prompt: optional(freeText('text'), 'The first prompt; kept until the agent can take it'),
    force: FORCE_START,
    attach: flag('Go to its terminal'),
    all: flag('Every agent that is not running, in --group if given'),
  },
  async run({ where, prompt, attach, all, force, resume, worktree, ...given }, cli) {
    const agents = await cli.agents()
    const signal = cli.interrupted()
    const sent = { force, signal, ...(worktree ? { worktree } : {}), ...(prompt === undefined ? {} : { prompt }) }
    const run = async (launch: StartNow) => {
      const { agent, did, how, session } = await agents.start({ ...launch, ...sent })
      return { agent, did, how, ...(session ? { session } : {}) }
    }
    if (all || where.length > 1) {
      if (resume !== undefined) throw usageError('--resume needs exactly one agent', 'Resume sessions one by one')
      if (all && worktree) throw usageError('--all starts agents as they were before', 'Leave out --worktree')
      const launches = all ? await downAgents(where, given, agents) : await launchesOf(where, given, cli)
      if (attach) throw usageError('--attach needs exactly one agent', 'Attach afterwards: skein attach <agent>')
      const jobs = launches.map((launch) => ({
        agent: launch.agent ?? launch.cwd ?? '',
        run: () => run(launch),
      }))
      return answerWithReceipts(jobs, cli, 'No agent is stopped there')
    }
    if (attach) refuseUnattended(cli)
    const started = await run(
      resume === undefined ? await launchOf(where[0], given, cli) : resumeOf(resume, where[0], given, cli),
    )
    cli.out.result(started, () => receiptView(started))
    if (attach) await visit(started.agent.id, cli)
  },
})

/** The session says where it works; a directory is for one that does not. */
function resumeOf(resume: string, where: string | undefined, given: Given, cli: Cli): StartNow {
  const place = { agent: given.agent, cwd: where === undefined ? undefined : resolve(cli.cwd, where) }
  return { ...launchIn(place, given, cli), resume }
}

type Given = Parameters<typeof launchOf>[1]

/** All words are understood before anything is started. */
async function launchesOf(where: readonly string[], given: Given, cli: Cli): Promise<StartAgent[]> {
  refuseForOne(given)
  const launches: StartAgent[] = []
  for (const one of where) launches.push(await launchOf(one, given, cli))
  return launches
}

async function downAgents(where: readonly string[], given: Given, agents: Agents): Promise<StartAgent[]> {
  if (where.length > 0) throw usageError('Agent names and --all cannot be combined', 'Leave out one of them')
  const { group, env, mcp, arg, dangerous, ...others } = given
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (other !== undefined || env.length + mcp.length + arg.length > 0 || dangerous) {
    throw usageError('--all starts agents as they were before', 'Leave out other options, except --group and --prompt')
  }
  const found = await agents.list(group === undefined ? {} : { group })
  return found.filter(isDown).map(({ address }) => ({ agent: address }))
}

function refuseForOne({ agent, title }: Given): void {
  if (agent === undefined && title === undefined) return
  throw usageError(`${agent === undefined ? '--title' : '--agent'} needs exactly one agent`, 'Start them one by one')
}
