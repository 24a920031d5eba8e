import {
  type Agent,
  isActive,
  type Link,
  type Outcome,
  type SessionFacts,
  type SessionId,
  SkeinError,
  splitAddress,
} from '../../model/index.js'
import type { AgentRun, Binding } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { gitBranch } from '../status/git-branch.js'

/** Facts about the conversation of an agent that begins or goes on. */
function factsOf(agent: Agent, run: AgentRun): { agent: string } & Omit<SessionFacts, 'agent' | 'agent_id'> {
  const { recipe } = run
  const branch = gitBranch(recipe.cwd)
  const tmux = run.run?.tmux_session ?? run.launching?.tmux_session
  return {
    agent: agent.address,
    tool: recipe.tool,
    ...(agent.title === splitAddress(agent.address).name ? {} : { title: agent.title }), // a name says nothing about the work
    cwd: recipe.cwd,
    ...(recipe.work ? { work_unit: recipe.work } : {}),
    ...(recipe.model ? { model: recipe.model } : {}),
    ...(branch ? { branch } : {}),
    ...(tmux ? { tmux_session: tmux } : {}),
    ...(run.binding?.how === 'made' ? { source: 'run' as const } : {}),
    ...purposeOf(run),
  }
}

/** Why its program was started, where this is the conversation that it was started for. */
function purposeOf({ run, launching, start, binding }: AgentRun): Pick<SessionFacts, 'topic' | 'sender'> {
  const isFirst = (run ?? launching)?.how === 'new' && binding !== undefined && !LATER.has(binding.how)
  if (!isFirst || !start) return {}
  return { ...(start.topic ? { topic: start.topic } : {}), ...(start.sender ? { sender: start.sender } : {}) }
}

const LATER: ReadonlySet<Binding['how']> = new Set(['clear', 'compact', 'resume', 'fork'])

/** A conversation begins, or is taken up again. Told twice, it is said once. */
export async function recordBeginning({ home }: Parts, agent: Agent, run: AgentRun, session: SessionId): Promise<void> {
  const known = await home.sessions.get(session)
  if (!known || known.source === 'log' || known.agent === undefined) {
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
  const before = await sessions.get(from)
  // A conversation that its own process is seen in, and that nobody knew, took the place of the one before.
  const link = how === 'compact' ? how : how === 'clear' || how === 'captured' ? 'clear' : undefined
  if (link && before && isActive(before) && (await recordSuccessor(parts, agent, run, from, session, link))) return
  if (before && isActive(before)) {
    await sessions.end(from, {
      outcome: how === 'clear' ? 'clear' : 'exit',
      reason: `continued in ${session} (${how})`,
    })
  }
  await recordBeginning(parts, agent, run, session)
}

/**
 * An agent's next conversation continues one that it hands off. Recorded twice, it counts once. Before its program is started, the agent's
 * file says why its predecessor was begun: `purpose` is its own.
 */
export async function recordHandoff(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  from: SessionId,
  session: SessionId,
  { subject, purpose = {} }: { subject?: string | undefined; purpose?: Pick<SessionFacts, 'topic' | 'sender'> } = {},
): Promise<void> {
  // A start that was undone has ended it again.
  if ((await parts.home.sessions.get(from))?.child_id === session) return recordBeginning(parts, agent, run, session)
  const handed = { ...purpose, ...(subject ? { subject } : {}) }
  if (await recordSuccessor(parts, agent, run, from, session, 'handoff', handed)) return
  await recordEnd(parts, from, 'handoff', `handed off to ${session}`)
  await recordBeginning(parts, agent, run, session)
}

/** An agent begins a new conversation. Behind one that crashed, was killed or got lost, it continues the chain. */
export async function recordFreshStart(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  from: SessionId | undefined,
  session: SessionId | undefined,
): Promise<void> {
  if (from !== undefined && from !== session) await recordEnd(parts, from, 'exit', 'began afresh')
  if (session === undefined) return
  const before = from === undefined || from === session ? undefined : await parts.home.sessions.get(from)
  const isCut = before?.outcome !== undefined && CUT.has(before.outcome)
  if (before && isCut && (await recordSuccessor(parts, agent, run, before.id, session, 'crash'))) return
  await recordBeginning(parts, agent, run, session)
}

const CUT: ReadonlySet<Outcome> = new Set(['crash', 'killed', 'lost'])

/** False when the one was continued already, or the other has a place of its own. */
async function recordSuccessor(
  { home }: Parts,
  agent: Agent,
  run: AgentRun,
  from: SessionId,
  session: SessionId,
  link: Link,
  { subject, ...purpose }: Pick<SessionFacts, 'topic' | 'sender'> & { subject?: string } = {},
): Promise<boolean> {
  const [before, known] = await Promise.all([home.sessions.get(from), home.sessions.get(session)])
  const isPlaced = known && (known.source !== 'log' || known.parent_id !== undefined || known.forked_from !== undefined)
  if (!before || before.child_id || isPlaced) return false
  const facts = { id: session, ...factsOf(agent, run), ...purpose, link }
  if (!known && isActive(before)) await home.sessions.handoff(from, { ...facts, ...(subject ? { subject } : {}) })
  else await home.sessions.start({ ...facts, parent_id: from, mayExist: true })
  return true
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
