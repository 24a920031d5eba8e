import { resolve } from 'node:path'
import type { Agents, StartAgent, StartNow } from '../../lifecycle/index.js'
import { flag, freeText, isDown, optional, repeated, sessionRef, text, usageError } from '../../operations/index.js'
import { type Cli, command } from '../command.js'
import { FORCE_START, LAUNCH_OPTIONS, launchIn, launchOf } from '../input/agent-launch.js'
import { receiptView } from '../views/receipt-view.js'
import { answerWithReceipts } from '../views/receipts-view.js'
import { visit } from '../visit.js'

export const start = command({
  name: 'start',
  summary: 'Start agents',
  description:
    "In a tmux server of Skein's own, in the directory given or here. Returns once the program is running. An agent that exists is started as it was before, in the conversation it was in. With --resume an agent goes on with any session of the history, also one that was begun outside Skein: its record says which tool runs and where. The agent that it belongs to is started; without one, a new agent is made. Several are started in parallel, with one receipt each; exit code 1 if any of them failed.",
  examples: [
    ['skein start . --agent web/demo --tool claude', 'A new agent in this directory'],
    ['skein start web/demo --prompt "fix the login"', 'One that exists, with something to do'],
    ['skein start --all --group lab', 'Every agent of a group that does not run'],
  ],
  args: { where: repeated(text('directory', 'directory'), 'Where it works, or an agent that exists') },
  options: {
    ...LAUNCH_OPTIONS,
    resume: optional(sessionRef, 'Go on with this session of the history: id, beginning of an id, or agent'),
    prompt: optional(
      freeText('text'),
      'What to send it once it is ready; kept until then when it asks something first',
    ),
    force: FORCE_START,
    attach: flag('Go to its terminal'),
    all: flag('Every agent that exists and does not run, in --group if given'),
  },
  async run({ where, prompt, attach, all, force, resume, ...given }, cli) {
    const agents = await cli.agents()
    const sent = { force, ...(prompt === undefined ? {} : { prompt }) }
    const run = async (launch: StartNow) => {
      const { agent, did, how, session } = await agents.start({ ...launch, ...sent })
      return { agent, did, how, ...(session ? { session } : {}) }
    }
    if (all || where.length > 1) {
      if (resume !== undefined) throw usageError('--resume goes with one agent', 'Resume sessions one by one')
      const launches = all ? await downAgents(where, given, agents) : await launchesOf(where, given, cli)
      if (attach) throw usageError('--attach goes with one agent', 'Attach afterwards: skein attach <agent>')
      const jobs = launches.map((launch) => ({
        agent: launch.agent ?? launch.cwd ?? '',
        run: () => run(launch),
      }))
      return answerWithReceipts(jobs, cli, 'No agent is stopped there')
    }
    const started = await run(
      resume === undefined ? await launchOf(where[0], given, cli) : resumeOf(resume, where[0], given, cli),
    )
    cli.out.result(started, () => receiptView(started))
    if (attach && !cli.out.json) await visit(started.agent.id, cli)
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
  if (where.length > 0) throw usageError('Agents are named, and --all is given', 'Leave out one of them')
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
  throw usageError(`${agent === undefined ? '--title' : '--agent'} goes with one agent`, 'Start them one by one')
}
