import type { Agent, AgentStatus } from '../model/index.js'
import type { AgentRun, Binding } from './agent-run.js'
import type { AgentView } from './agents.js'
import type { Parts } from './parts.js'
import { directoryProblem } from './run/directory-problem.js'
import { gitBranch } from './status/git-branch.js'
import type { Observed } from './status/observe.js'

/** What faces show of agents that were just looked at. */
export async function viewsOf(parts: Parts, observed: readonly Observed[]): Promise<AgentView[]> {
  const sessions = observed.flatMap(({ run }) => run?.binding?.session ?? [])
  const spent = await parts.home.history.spent(sessions)
  return observed.map(({ agent, run, verdict }) => {
    const cost = run?.binding && spent.get(run.binding.session)
    return {
      ...viewOf(agent, run, verdict?.status),
      ...(cost ? { context_tokens: cost.context_tokens } : {}),
      // What is not known is not nothing.
      ...(cost && (cost.micro_usd > 0 || cost.unpriced_calls === 0) ? { cost_micro_usd: cost.micro_usd } : {}),
      ...(cost && cost.unpriced_calls > 0 ? { unpriced_calls: cost.unpriced_calls } : {}),
    }
  })
}

const sessionFacts = ({ session, since, how, is_confirmed }: Binding) => ({
  session_id: session,
  session_since: since,
  session_how: how,
  session_confirmed: is_confirmed,
})

export function viewOf(agent: Agent, run: AgentRun | undefined, status: AgentStatus | undefined): AgentView {
  // An agent that was never started has been stopped since it was made.
  const known = status ?? run?.status ?? { status: 'stopped', since: agent.created_at, source: 'process' }
  const cwd = run?.recipe.cwd ?? agent.project_path
  const branch = cwd ? gitBranch(cwd) : undefined
  const model = run?.recipe.model
  const problem = cwd ? directoryProblem(cwd) : undefined
  return {
    ...agent,
    ...known,
    ...(run?.binding ? sessionFacts(run.binding) : {}),
    ...(run?.run ? { tmux_session: run.run.tmux_session, pane: run.run.pane, pid: run.run.pid } : {}),
    ...(branch ? { branch } : {}),
    ...(problem ? { cwd_problem: problem } : {}),
    ...(model ? { model } : {}),
    ...(run?.pending_prompt ? { pending_prompt_at: run.pending_prompt.at } : {}),
    ...(run?.archived_at ? { archived_at: run.archived_at } : {}),
    ...(run?.snoozed_until ? { snoozed_until: run.snoozed_until } : {}),
  }
}
