import { keptWords } from '../home/index.js'
import { type Agent, type AgentStatus, instantOf, mayHoldToken, msOf, SkeinError } from '../model/index.js'
import { type AgentRun, type Binding, liveRun } from './agent-run.js'
import type { AgentView } from './agents.js'
import { heartbeatOf } from './care/heartbeat.js'
import { holdOf } from './care/hold.js'
import { agentsWithHookedMail, hookedWork } from './care/hooked-work.js'
import type { Parts } from './parts.js'
import { fallOf } from './recover/fall.js'
import { directoryProblem } from './run/directory-problem.js'
import { gitBranch } from './status/git-branch.js'
import type { Observed } from './status/observe.js'
import { livingOutside } from './status/outside.js'
import { phaseOf } from './status/phase.js'

/** What faces show of agents that were just looked at. */
export async function viewsOf(parts: Parts, observed: readonly Observed[]): Promise<AgentView[]> {
  const sessions = observed.flatMap(({ run }) => run?.binding?.session ?? [])
  const [spent, hooked] = await Promise.all([parts.home.history.spent(sessions), onHooks(parts, observed)])
  const outside = observed.every(({ run }) => liveRun(run)) ? new Map() : livingOutside(parts)
  const views = observed.map(async ({ agent, run, verdict }) => {
    const cost = run?.binding && spent.get(run.binding.session)
    const pid = liveRun(run) ? undefined : outside.get(agent.id)?.process.pid
    return {
      ...(await viewOf(parts, agent, run, verdict?.status, {
        unit: hooked.units?.get(agent.id),
        hasWork: hasWork(hooked, agent),
      })),
      ...(pid === undefined ? {} : { reason: `its program runs outside of Skein, as process ${pid}` }),
      ...(cost ? { context_tokens: cost.context_tokens } : {}),
      // What is not known is not nothing.
      ...(cost && (cost.micro_usd > 0 || cost.unpriced_calls === 0) ? { cost_micro_usd: cost.micro_usd } : {}),
      ...(cost && cost.unpriced_calls > 0 ? { unpriced_calls: cost.unpriced_calls } : {}),
    }
  })
  return Promise.all(views)
}

interface OnHooks {
  /** By agent; absent where another program keeps the work. It is not asked on every look, and then it is not known. */
  units?: ReadonlyMap<string, string>
  mail: ReadonlySet<string>
}

/** What is on the hooks of agents that run, as far as that is one query. */
async function onHooks({ home }: Parts, observed: readonly Observed[]): Promise<OnHooks> {
  if (!observed.some(({ run }) => liveRun(run))) return { units: new Map(), mail: new Set() }
  try {
    const mail = await agentsWithHookedMail(home)
    return (await home.work.keeper()) === 'built-in' ? { units: await hookedWork(home), mail } : { mail }
  } catch (error) {
    if (!(error instanceof SkeinError && error.code === 'bad-config')) throw error
    return { mail: new Set() }
  }
}

/** Work or mail: what makes `skein prime` say "autonomous". Undefined where it is not known. */
const hasWork = ({ units, mail }: OnHooks, { id }: Agent): boolean | undefined => mail.has(id) || units?.has(id)

const sessionFacts = ({ session, since, how, is_confirmed }: Binding) => ({
  session_id: session,
  session_since: since,
  session_how: how,
  session_confirmed: is_confirmed,
})

export async function viewOf(
  parts: Parts,
  agent: Agent,
  run: AgentRun | undefined,
  status: AgentStatus | undefined,
  /** What is on its hook; absent where nobody has looked. */
  hook?: { unit: string | undefined; hasWork: boolean | undefined },
): Promise<AgentView> {
  // An agent that was never started has been stopped since it was made.
  const known = status ?? run?.status ?? { status: 'stopped', since: agent.created_at, source: 'process' }
  const cwd = run?.recipe.cwd ?? agent.project_path
  const branch = cwd ? await keptBranch(parts, gitBranch(cwd)) : undefined
  const model = run?.recipe.model
  const phase = phaseOf(run, known as AgentStatus, hook?.hasWork)
  const problem = cwd ? directoryProblem(cwd) : undefined
  const fell = fallOf(run)
  const limit_until = run && liveRun(run) ? holdOf(run, parts.context.clock.now())?.until : undefined
  const heartbeat = heartbeatOf(parts, run, known as AgentStatus, hook?.unit ?? run?.recipe.work)
  return {
    ...agent,
    ...known,
    ...(run?.binding ? sessionFacts(run.binding) : {}),
    ...(run?.run ? { tmux_session: run.run.tmux_session, pane: run.run.pane, pid: run.run.pid } : {}),
    ...(branch ? { branch } : {}),
    ...(problem ? { cwd_problem: problem } : {}),
    ...(model ? { model } : {}),
    ...(phase ? { phase } : {}),
    ...(heartbeat ? { heartbeat } : {}),
    ...(run?.pending_prompt ? { pending_prompt_at: run.pending_prompt.at } : {}),
    ...(run?.archived_at ? { archived_at: run.archived_at } : {}),
    ...(run?.snoozed_until ? { snoozed_until: run.snoozed_until } : {}),
    ...(fell ? { down: fell.how } : {}),
    ...(fell?.parked ? { parked: fell.parked } : {}),
    ...dueRespawn(run),
    ...(limit_until ? { limit_until } : {}),
  }
}

/** Others name branches, too. Most names cannot hold a secret, and no rules are loaded for them. */
async function keptBranch({ home }: Parts, branch: string | undefined): Promise<string | undefined> {
  return branch === undefined || !mayHoldToken(branch) ? branch : (await keptWords({ branch }, home)).branch
}

function dueRespawn({ run, respawn }: Pick<AgentRun, 'run' | 'respawn'> = {}): Pick<AgentView, 'respawn'> {
  if (!respawn || respawn.parked || respawn.run !== run?.id || respawn.delay_ms === undefined) return {}
  return { respawn: { count: respawn.count, at: instantOf(msOf(respawn.at) + respawn.delay_ms) } }
}
