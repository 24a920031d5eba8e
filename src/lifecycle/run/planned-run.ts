import { type Agent, parseSessionId, type Role, type Roles, type SessionId } from '../../model/index.js'
import type { ToolRunner } from '../../tools/index.js'
import type { AgentRun, Binding, LiveRun, Recipe } from '../agent-run.js'
import { type HandoffMarker, unfinished } from '../handoff/marker.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { refuseForeign } from '../recover/owned-conversation.js'
import { restoreDeleted } from '../recover/recovery-plan.js'
import { beaconFor, senderFor } from './beacon-for.js'
import { checkGivenEnv, givenEnv } from './given-env.js'
import { type PreparedRun, prepareRun } from './launch.js'
import { refuseHeld } from './resume-plan.js'
import { recipeOfTool, refuseNoDirectory, type StartPlan } from './start-plan.js'
import type { StartSteps } from './start-steps.js'
import { roleSessionName } from './tmux-name.js'

export interface Restart {
  fresh?: boolean
  /** An agent that runs is ended first; without it, it is an error. */
  replace?: boolean
  /** With the environment of its last start, in place of that of this process. The daemon always does so. */
  asBefore?: boolean
  /** In a copy of this conversation, which the tool makes. */
  fork?: SessionId
  /** Without a trace in other conversations, see `Launch.isAside`. */
  isAside?: boolean
  /** By the watchdog, which counts; any other start begins to count anew. */
  isRespawn?: boolean
  /** Also when the process before may still run where it cannot be seen. */
  force?: boolean
  env?: Readonly<Record<string, string>>
  /** Why it is started, for the beacon and the session. */
  topic?: string
}

/** What a start is made from. */
export interface Beginning extends Restart {
  plan?: StartPlan
  roles: Roles
  role: Role | undefined
  steps: StartSteps
}

/** What a run will be: which program, in which conversation, with which words. Nothing of the agent has changed yet. */
export interface PlannedRun {
  /** The agent's file as it is now. */
  readonly current: AgentRun
  /** A handoff that whoever starts the agent finishes. */
  readonly handoff: HandoffMarker | undefined
  readonly recipe: Recipe
  /** Variables to keep for later starts. */
  readonly newEnv: Record<string, string> | undefined
  readonly runner: ToolRunner
  readonly how: LiveRun['how']
  /** The conversation that this tool was in. */
  readonly bound: Binding | undefined
  readonly other_tools: AgentRun['other_tools']
  readonly purpose: { topic: string; sender: string } | undefined
  /** Its first prompt. */
  readonly hello: string | undefined
  readonly tmuxSession: string
  readonly prepared: PreparedRun
}

/** For a conversation that was restarted in the middle of a turn: else it would wait for somebody. */
const CONTINUATION =
  'Your program was restarted in this conversation (skein handoff --cycle). Continue your previous task.'

/** Undefined for an agent that never ran and is not being started now. */
export async function planRun(
  parts: Parts,
  agent: Agent,
  stored: AgentRun | undefined,
  options: Beginning,
): Promise<PlannedRun | undefined> {
  const { plan, roles, role, steps } = options
  await parts.home.roster.agent(agent.id) // removed by another process since
  const current = stored ?? (plan && neverRun(parts, agent, plan.recipe))
  if (!current) return undefined
  const handoff = unfinished(current)
  const tool = plan?.recipe.tool ?? handoff?.tool ?? agent.tool
  const { recipe: ofTool, binding: bound, other_tools } = recipeOfTool(current, tool)
  const { recipe, env, newEnv } = await steps.do('environment', () =>
    envFor(parts, agent, plan?.recipe ?? ofTool, options),
  )
  const runner = runnerOf(parts, recipe.tool)
  const { how, session } = conversationFor(parts, bound, recipe, { ...options, handoff })
  // Also when its start was cut off before, and its conversation is there already.
  const isSuccessor = handoff?.kind === 'fresh'
  const purpose = how === 'new' || isSuccessor ? purposeOf(parts, agent, recipe, options, handoff) : undefined
  // A successor is told why it runs, whatever its role: else it would wait for somebody.
  const hello =
    handoff?.is_cut && how === 'resume'
      ? CONTINUATION
      : purpose && (role?.beacon || isSuccessor)
        ? await steps.do('prompt', () =>
            beaconFor(parts, agent, { roles, role: role?.name, isPrimed: runner.can.tells, ...purpose }),
          )
        : undefined
  if (hello === undefined) steps.skip('prompt', how === 'new' ? 'no beacon is asked for' : 'the conversation goes on')
  const tmuxSession = current.run?.tmux_session ?? roleSessionName(roles, agent)
  const prepared = await steps.do('command', async () => {
    refuseNoDirectory(recipe.cwd)
    if (how === 'resume' && session) await refuseHeld(parts, session, agent)
    if (how === 'resume' && session && !plan?.resume) {
      await refuseForeign(parts, agent, current, session)
      await restoreDeleted(parts, agent, current, { recipe, session })
    }
    await parts.terminals.of(parts.socket)
    const origin = { ...(options.fork ? { origin: options.fork } : {}), ...(options.isAside ? { isAside: true } : {}) }
    // A program that will never say which conversation it is in: this run is one.
    const made = runner.can.tells ? {} : { made: handoff?.to ?? parseSessionId(parts.context.random.uuid()) }
    const asked = { agent, recipe, runner, how, session, ...made, ...origin, tmuxSession, env, roles }
    const given = await prepareRun(parts, asked)
    // Most programs choose the id of a copy themselves.
    return how === 'fork' ? { ...given, session: given.preparation.session } : given
  })
  return { current, handoff, recipe, newEnv, runner, how, bound, other_tools, purpose, hello, tmuxSession, prepared }
}

/** Why the session is begun, and by whom. Only of agents that have a role, or were given a topic. */
function purposeOf(
  parts: Parts,
  agent: Agent,
  recipe: Recipe,
  { role, roles, plan, topic }: Beginning,
  handoff: HandoffMarker | undefined,
): { topic: string; sender: string } | undefined {
  const given = topic ?? (handoff ? (handoff.topic ?? 'handoff') : plan?.topic)
  if (!role && given === undefined) return undefined
  const { SKEIN_AGENT: caller } = parts.environment.env
  const by = handoff ? (handoff.sender ?? 'self') : caller === agent.address ? 'self' : caller
  return { topic: given ?? (recipe.work ? 'assigned' : 'cold-start'), sender: senderFor(parts, roles, by) }
}

const neverRun = (parts: Parts, agent: Agent, recipe: Recipe): AgentRun => ({
  v: 1,
  agent: agent.id,
  recipe,
  status: { status: 'stopped', since: nowOf(parts), source: 'process' },
})

/** The conversation it had, where the tool can go on with it; else one with an id that is chosen now, where that can be. */
function conversationFor(
  parts: Parts,
  binding: Binding | undefined,
  recipe: Recipe,
  { fresh, plan, fork, handoff }: Restart & { plan?: StartPlan; handoff: HandoffMarker | undefined },
): { how: LiveRun['how']; session: SessionId | undefined } {
  const { can } = runnerOf(parts, recipe.tool)
  if (fork) return { how: 'fork', session: parseSessionId(parts.context.random.uuid()) }
  if (plan?.resume) return { how: 'resume', session: plan.resume }
  // A successor that was begun once is resumed like any other.
  if (handoff?.kind === 'fresh' && (handoff.to === undefined || binding?.session !== handoff.to))
    return { how: 'new', session: can.chooseId === 'flag' || can.chooseId === 'seed' ? handoff.to : undefined }
  if (binding && binding.how !== 'made' && can.resume && !fresh) return { how: 'resume', session: binding.session }
  const canChoose = can.chooseId === 'flag' || can.chooseId === 'seed'
  return { how: 'new', session: canChoose ? parseSessionId(parts.context.random.uuid()) : undefined }
}

/** The variables that it is started with: those it has, those that are given now on top, or those of a plan instead. */
function envFor(
  parts: Parts,
  agent: Agent,
  recipe: Recipe,
  { env: added, plan }: Restart & { plan?: StartPlan },
): { recipe: Recipe; env: Record<string, string>; newEnv?: Record<string, string> } {
  if (plan?.env) return { recipe, env: { ...plan.env }, newEnv: { ...plan.env } }
  if (!added || Object.keys(added).length === 0) return { recipe, env: givenEnv(parts, agent, recipe) }
  checkGivenEnv(added)
  const kept = (recipe.env_names ?? []).filter((name) => !Object.hasOwn(added, name))
  const env = { ...givenEnv(parts, agent, { ...recipe, env_names: kept }), ...added }
  return { recipe: { ...recipe, env_names: Object.keys(env) }, env, newEnv: env }
}
