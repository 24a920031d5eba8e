import { type Agent, isActive, type Outcome, type SessionId, SkeinError } from '../model/index.js'
import type { AgentRun, Binding } from './agent-run.js'
import { gitBranch } from './git-branch.js'
import type { Parts } from './parts.js'

/** Facts about the conversation of an agent that begins or goes on. */
function factsOf(agent: Agent, run: AgentRun): { agent: string; [fact: string]: string } {
  const { recipe } = run
  const branch = gitBranch(recipe.cwd)
  const tmux = run.run?.tmux_session ?? run.launching?.tmux_session
  return {
    agent: agent.address,
    tool: recipe.tool,
    title: agent.title,
    cwd: recipe.cwd,
    ...(recipe.work ? { work_unit: recipe.work } : {}),
    ...(recipe.model ? { model: recipe.model } : {}),
    ...(branch ? { branch } : {}),
    ...(tmux ? { tmux_session: tmux } : {}),
  }
}

/** A conversation begins, or is taken up again. Told twice, it is said once. */
export async function recordBeginning({ home }: Parts, agent: Agent, run: AgentRun, session: SessionId): Promise<void> {
  const known = await home.sessions.get(session)
  if (!known || known.source === 'log') {
    await home.sessions.start({ id: session, ...factsOf(agent, run), mayExist: true })
  }
  if (known && !isActive(known) && !known.child_id) await home.sessions.start({ id: session, resume: true })
}

/** One conversation follows another in the same process. */
export async function recordSuccession(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  from: SessionId,
  { session, how }: Binding,
): Promise<void> {
  const { sessions } = parts.home
  const [before, known] = await Promise.all([sessions.get(from), sessions.get(session)])
  const isSuccessor = (how === 'clear' || how === 'compact') && before && isActive(before) && !before.child_id
  if (isSuccessor && !known) {
    await sessions.handoff(from, { id: session, ...factsOf(agent, run), link: how })
    return
  }
  if (before && isActive(before)) {
    await sessions.end(from, { outcome: how === 'clear' ? 'clear' : 'exit', reason: `went on in ${session} (${how})` })
  }
  await recordBeginning(parts, agent, run, session)
}

export async function recordEnd(
  { home }: Parts,
  session: SessionId | undefined,
  outcome: Outcome,
  reason: string,
): Promise<void> {
  const known = session && (await home.sessions.get(session))
  if (!known || !isActive(known)) return
  try {
    await home.sessions.end(known.id, { outcome, reason })
  } catch (error) {
    // Another process has seen the same end.
    if (!(error instanceof SkeinError) || error.code !== 'illegal-transition') throw error
  }
}
