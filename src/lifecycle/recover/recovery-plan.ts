import { statOf } from '../../disk/index.js'
import { type Agent, type SessionId, SkeinError } from '../../model/index.js'
import { WRITERS } from '../../tools/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { withKeptEnvironment } from '../care/kept-environment.js'
import { type Parts, runnerOf } from '../parts.js'
import { accountOf, environmentFor } from '../run/account.js'
import { givenEnv } from '../run/given-env.js'
import { prepareRun } from '../run/launch.js'
import { refuseHeld } from '../run/resume-plan.js'
import { lifeOfRun } from '../run/run-life.js'
import { recipeOfTool, refuseNoDirectory } from '../run/start-plan.js'
import { refuseForeign } from './owned-conversation.js'

/** How an agent that is down is brought back. */
export interface RecoveryPlan {
  outcome: 'resumed' | 'fresh'
  session?: SessionId
  /** Why it does not go on with a conversation. */
  because?: string
  /** Its program cannot open the conversation that its file names, so it is given a new one. */
  isNew: boolean
  /** Its log was deleted, and has to be written again first: `restoreLog`. */
  isRestored?: true
}

/**
 * Which conversation a stopped agent comes back in. Refuses (`SkeinError`) what would lose one, mix two up, or start the program
 * with other settings than it had. Changes nothing.
 */
export async function planRecovery(from: Parts, agent: Agent, run: AgentRun): Promise<RecoveryPlan> {
  const parts = withKeptEnvironment(from, agent)
  const { recipe, binding } = recipeOfTool(run, agent.tool)
  const { can, hasConversation } = runnerOf(parts, recipe.tool)
  refuseNoDirectory(recipe.cwd, `Create it again, then: ${backBy(agent, run)}`)
  givenEnv(parts, agent, recipe)
  environmentFor(parts, recipe)
  if (!binding) return { outcome: 'fresh', because: 'it had no conversation yet', isNew: true }
  if (binding.how === 'made' || !can.resume) {
    return { outcome: 'fresh', because: `${recipe.tool} cannot resume a conversation`, isNew: true }
  }
  const { session } = binding
  const environment = environmentFor(parts, recipe)
  await refuseHeld(parts, session, agent)
  await refuseForeign(parts, agent, run, session)
  refuseOpen({ ...parts, environment }, agent, run, session)
  if ((await hasConversation?.(session, environment)) !== false) return { outcome: 'resumed', session, isNew: false }
  refuseNoAccount(parts, recipe, backBy(agent, run))
  if (await wasSomethingSaid(parts, run, session)) {
    if (!(await canRestore(parts, recipe.tool, session))) throw logDeleted(agent, recipe.tool, session)
    const because = 'its log was deleted and is written again from the archive'
    return { outcome: 'resumed', session, because, isNew: false, isRestored: true }
  }
  // Programs that are given their id take the same one again.
  const isChosen = can.chooseId === 'flag' || can.chooseId === 'seed'
  return { outcome: 'fresh', because: 'nothing was said in its conversation', isNew: !isChosen, session }
}

/** The command that brings this agent back: one that is asleep or was stopped by `skein down` is none that `skein recover` starts. */
function backBy({ address }: Agent, { run }: AgentRun): string {
  if (run?.is_asleep) return `skein wake ${address}`
  return run?.is_down ? 'skein up' : `skein recover ${address}`
}

/** Without its directory an account has neither a login nor the conversation: writing the log there again would not bring it back. */
function refuseNoAccount({ environment, runners }: Parts, { tool, account }: AgentRun['recipe'], next: string): void {
  if (account === undefined) return
  const { directory } = accountOf(environment, runnerOf({ runners }, tool), account)
  if (statOf(directory)?.isDirectory()) return
  throw new SkeinError(
    'bad-input',
    `The directory of the account ${account} is gone: ${directory}`,
    `Restore it, or correct config_dir in [accounts.${account}], then: ${next}`,
  )
}

/** Refuses a plan whose program is not installed any more, before anything is changed for it. */
export async function refuseNoProgram(from: Parts, agent: Agent, run: AgentRun, plan: RecoveryPlan): Promise<void> {
  const parts = withKeptEnvironment(from, agent)
  const { recipe } = recipeOfTool(run, agent.tool)
  await prepareRun(parts, {
    agent,
    recipe,
    runner: runnerOf(parts, recipe.tool),
    how: plan.isNew ? 'new' : 'resume',
    session: plan.session,
    tmuxSession: '',
    env: givenEnv(parts, agent, recipe),
    roles: await parts.home.programs.roles(),
  })
}

/** Writes the deleted log of a plan again, so that the program can open the conversation. */
export async function restoreLog(from: Parts, agent: Agent, { isRestored, session }: RecoveryPlan): Promise<void> {
  if (!isRestored || session === undefined) return
  const { resurrect } = await import('../fork/resurrect.js')
  await resurrect(withKeptEnvironment(from, agent), session, {})
}

/**
 * Writes the log of a conversation again that an agent is about to be started in, if it was deleted. Refuses (`SkeinError`) where that
 * cannot be done: its program would begin an empty conversation under the same id.
 */
export async function restoreDeleted(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  { recipe, session }: { recipe: AgentRun['recipe']; session: SessionId },
): Promise<void> {
  const { hasConversation } = runnerOf(parts, recipe.tool)
  if ((await hasConversation?.(session, environmentFor(parts, recipe))) !== false) return
  if (!(await wasSomethingSaid(parts, run, session))) return
  if (liveRun(run) || !(await canRestore(parts, recipe.tool, session))) throw logDeleted(agent, recipe.tool, session)
  const { resurrect } = await import('../fork/resurrect.js')
  await resurrect(parts, session, {})
}

/** Only under its own id: a copy would be another session. */
async function canRestore(parts: Parts, tool: string, session: SessionId): Promise<boolean> {
  const writer = WRITERS.find((one) => one.tool === tool)
  if (!writer?.takes(session) || writer.isBoundToBegun) return false
  const { told_from } = await parts.home.history.turns(session)
  return told_from === 'log' || told_from === 'archive'
}

/** A program that has the conversation open would write into the same log. The agent's own process is ended first. */
function refuseOpen(parts: Parts, agent: Agent, run: AgentRun, session: SessionId): void {
  const live = liveRun(run)
  if (live && lifeOfRun(live) === 'alive') return
  if (!runnerOf(parts, agent.tool).openConversations?.(parts.environment)?.has(session)) return
  throw new SkeinError(
    'foreign-conversation',
    `Session ${session} is open in another program`,
    `End that program, then: ${backBy(agent, run)}`,
  )
}

/** Some programs write a log with the first prompt: without one, none is missing. */
async function wasSomethingSaid({ home }: Parts, run: AgentRun, session: SessionId): Promise<boolean> {
  if (run.turn_end || run.busy_at !== undefined || run.prompted_at !== undefined || run.finished_at !== undefined)
    return true
  return (await home.history.spent([session])).has(session)
}

const logDeleted = (agent: Agent, tool: string, session: SessionId): SkeinError =>
  new SkeinError(
    'session-not-found',
    `${tool} has no log of session ${session} any more: it was deleted`,
    `What was said: skein turns ${session} . Begin another conversation: skein restart ${agent.address} --fresh`,
  )
