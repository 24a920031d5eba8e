import { realPath, statOf } from '../../disk/index.js'
import {
  type Agent,
  type AgentId,
  type AgentStatus,
  groupLineage,
  parseAddress,
  parseAgentId,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import { type AgentRun, liveRun, type Recipe } from '../agent-run.js'
import type { StartAgent, StartNow } from '../agents.js'
import { refuseUsedUp } from '../budget/standing.js'
import { keepEnvironment, withKeptEnvironment } from '../care/kept-environment.js'
import { placeBelow } from '../fork/fork-plan.js'
import { includeIgnored } from '../fork/worktree-include.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { refuseParked } from '../sling/admission.js'
import { Git } from '../sling/worktree.js'
import { type Observed, observe } from '../status/observe.js'
import { type MadeWorktree, makeWorktree, noteWorktree, readyBranch } from '../turns/start-branch.js'
import { type Begun, beginRun, undoRun } from './begin-run.js'
import { saveGivenEnv } from './given-env.js'
import { clearOldRuns, prepareRun } from './launch.js'
import type { Tier } from './make-pane.js'
import type { Restart } from './planned-run.js'
import { lifeOfRun } from './run-life.js'
import { settleStart } from './settle-start.js'
import { planStart, recipeOfTool, type StartPlan } from './start-plan.js'
import { isBeforeProgram, type StartStepName, StartSteps } from './start-steps.js'
import { NOT_FOUND } from './until-alive.js'

export type { Restart } from './planned-run.js'

/** Makes the agent when it does not exist, under this id if one is given, and keeps how it will be started. Nothing runs yet. */
export async function spawn(parts: Parts, options: StartAgent, id?: AgentId): Promise<Agent> {
  const plan = await planStart(parts, options)
  // Whoever names the id makes a new agent: another process may just have made one at this address.
  if (id !== undefined && plan.known) throw agentExists(plan.known.address)
  const groups = await groupsNow(parts)
  const agent = await rostered(parts, plan, id)
  try {
    await parts.runs.update(agent, (current) => {
      if (plan.env) saveGivenEnv(parts, agent, plan.env)
      const status: AgentStatus = current?.status ?? { status: 'stopped', since: nowOf(parts), source: 'process' }
      const next = { ...current, v: 1 as const, agent: agent.id, recipe: plan.recipe, status }
      const { role } = agent
      const { work } = plan.recipe
      const facts = { tool: plan.recipe.tool, ...(role ? { role } : {}), ...(work ? { work } : {}) }
      const payload = { agent_id: agent.id, target: agent.address, how: 'made', ...facts }
      return {
        next: { ...next, ...(current ? withRecipe(current, plan.recipe) : {}) },
        events: plan.known ? [] : [{ type: 'spawn', payload }],
        result: undefined,
      }
    })
  } catch (error) {
    if (!plan.known) await unmake(parts, agent, groups)
    throw error
  }
  return agent
}

export const agentExists = (address: string): SkeinError =>
  new SkeinError('agent-exists', `There is an agent ${address} already`, 'Choose another name: --name <name>')

/** The same agent with another recipe: what belongs to another tool is kept apart. */
const withRecipe = (current: AgentRun, recipe: Recipe): AgentRun => {
  const { binding: _binding, ...rest } = current
  return { ...rest, ...recipeOfTool(current, recipe.tool), recipe }
}

/** The agent on the roster as it is planned. */
async function rostered(
  { home: { roster } }: Parts,
  { known, address, facts, parent, recipe }: StartPlan,
  id?: AgentId,
): Promise<Agent> {
  const { tool, cwd } = recipe
  const given = { ...(id ? { id } : {}), ...(parent ? { parent } : {}) }
  if (!known) return roster.add({ address, tool, project_path: cwd, ...facts, ...given })
  return Object.keys(facts).length > 0 ? roster.update(known.id, facts) : known
}

export interface Started {
  agent: Agent
  observed: Observed
  tier: Tier
  session: SessionId | undefined
  /** What the agent is to be told first. */
  beacon: string | undefined
}

/** Starts an agent, new or known. What is refused leaves everything as it was; a new agent that does not begin is not left behind. */
export async function startAgent(parts: Parts, options: StartNow): Promise<Started> {
  // Two that are to go on with the same session: the second one has to see the first.
  using _resuming = options.resume === undefined ? undefined : await parts.runs.holdResume()
  const { signal } = options
  const steps = new StartSteps(nowOf(parts), (step) => {
    options.onStep?.(step)
    if (signal?.aborted && isBeforeProgram(step)) throw interrupted()
  })
  const groups = await groupsNow(parts)
  const resolving = steps.do('resolve', async () => {
    const plan = await planStart(parts, options)
    await refuseParked(parts.home, parseAddress(plan.address))
    if (options.worktree) refuseWorktree(plan)
    if (plan.known) return { plan, agent: { ...plan.known, ...plan.facts } }
    await refuseUnstartable(parts, plan)
    if (!options.worktree) return { plan, agent: await rostered(parts, plan) }
    const { tree, recipe } = await inWorktree(parts, plan.recipe)
    const placed = { ...plan, recipe }
    try {
      const agent = await rostered(parts, placed)
      noteWorktree(parts, agent, tree)
      return { plan: placed, agent, tree }
    } catch (error) {
      await parts.home.snapshots.removeWorktree(tree)
      throw error
    }
  })
  // An interrupt from the keyboard ends git as well, which is then what fails.
  const { plan, agent, tree } = await resolving.catch((error: unknown) => {
    throw signal?.aborted ? interrupted() : error
  })
  const restart = { force: options.force ?? false, plan, steps, hasPrompt: options.prompt !== undefined }
  if (plan.known) {
    const started = await start(parts, agent, restart)
    return { ...started, agent: await rostered(parts, plan) }
  }
  try {
    return await start(parts, agent, restart)
  } catch (error) {
    await unmakeUnbegun(parts, agent, groups)
    const isLeft = (await parts.home.roster.agents()).some(({ id }) => id === agent.id)
    if (tree && !isLeft) await parts.home.snapshots.removeWorktree(tree)
    throw error
  }
}

const interrupted = (): SkeinError =>
  new SkeinError('interrupted', 'The start was interrupted', 'Everything is as it was before')

function refuseWorktree({ known, resume }: StartPlan): void {
  if (known)
    throw new SkeinError(
      'agent-exists',
      `The agent ${known.address} has a directory already`,
      'Leave out --worktree, or name a new agent: --agent <name>',
    )
  if (resume !== undefined)
    throw new SkeinError(
      'bad-input',
      'A session continues in the directory of its record',
      'Leave out --worktree, or fork it: skein fork <session>',
    )
}

/** The same place in a worktree of its own. */
async function inWorktree(parts: Parts, recipe: Recipe): Promise<{ tree: MadeWorktree; recipe: Recipe }> {
  const tree = await makeWorktree(parts, recipe.cwd)
  const cwd = placeBelow(tree.directory, tree.root, realPath(recipe.cwd))
  await includeIgnored(new Git(parts.environment.env), tree.root, tree.directory)
  return { tree, recipe: { ...recipe, cwd: statOf(cwd) ? cwd : tree.directory } }
}

/** Before there is anything to undo: whether tmux and the program are there. */
async function refuseUnstartable(
  parts: Parts,
  { address, facts, recipe, env = {}, roles, resume: session }: StartPlan,
): Promise<void> {
  await parts.terminals.of(parts.socket)
  const agent = { id: parseAgentId(parts.context.random.uuid()), address: parseAddress(address), ...facts }
  const runner = runnerOf(parts, recipe.tool)
  const how = session ? 'resume' : 'new'
  await prepareRun(parts, { agent, recipe, runner, how, session, tmuxSession: '', env, roles })
}

const groupsNow = async ({ home }: Parts): Promise<ReadonlySet<string>> =>
  new Set((await home.roster.groups()).map(({ path }) => path))

/** Takes an agent back whose program never ran, with the groups that were made for it. One that may run is kept. */
async function unmakeUnbegun(parts: Parts, agent: Agent, groups: ReadonlySet<string>): Promise<void> {
  const { runs, terminals } = parts
  const { run, launching, status } = (await runs.read(agent.id)) ?? {}
  if (launching || (run && status?.reason !== NOT_FOUND)) return
  const terminal = run && (await terminals.of(run.socket).catch(() => undefined))
  if (run) await terminal?.close(run.tmux_session).catch(() => undefined) // gone already
  await unmake(parts, agent, groups)
}

async function unmake({ runs, home: { roster } }: Parts, agent: Agent, groups: ReadonlySet<string>): Promise<void> {
  await roster.remove(agent.id)
  runs.forget(agent.id)
  const made = agent.group_path ? groupLineage(agent.group_path).filter((path) => !groups.has(path)) : []
  for (const path of made.reverse()) await roster.deleteGroup(path).catch(() => undefined) // another agent is in it by now
}

/** Starts the agent's program and stays until it is seen to live, or to have died. */
export async function start(
  parts: Parts,
  agent: Agent,
  options: Restart & {
    plan?: StartPlan
    steps?: StartSteps
    /** It is given a prompt once it runs. */
    hasPrompt?: boolean
    onStep?: (step: StartStepName) => void
    /** Called once its program runs and is recorded; what follows is waiting, which begins when this is done. */
    onBegun?: () => Promise<void> | void
  } = {},
): Promise<Started> {
  const { plan, steps = new StartSteps(nowOf(parts), options.onStep) } = options
  await refuseUsedUp(parts, agent)
  const roles = plan?.roles ?? (await parts.home.programs.roles())
  const role = plan?.role ?? roles.of(agent)
  const isAsBefore = options.asBefore === true || parts.isStaying
  const own = isAsBefore ? withKeptEnvironment(parts, agent) : parts
  await recordUnseenEnd(parts, agent)
  let begun: Begun | undefined
  let undoBranch: (() => Promise<void>) | undefined
  try {
    begun = await parts.runs.update(agent, (current, save) =>
      beginRun(own, agent, current, { ...options, roles, role, steps }, save),
    )
    if (!begun) throw new Error(`agent ${agent.id} has no recipe`)
    if (!isAsBefore) keepEnvironment(parts, agent)
    await options.onBegun?.()
    await clearOldRuns(parts, agent, begun.run.id)
    undoBranch = await readyBranch(parts, agent, begun.cwd)
    const observed = await settleStart(parts, agent, begun, role, steps, options.hasPrompt)
    const { tier, session, beacon } = begun
    return { agent, observed, tier, session, beacon }
  } catch (error) {
    if (begun && !isKept(error, role !== undefined)) {
      await undoRun(parts, agent, begun, steps)
      await undoBranch?.()
    }
    if (steps.list.some(({ name }) => name === 'settings')) await recordFailure(parts, agent, steps)
    throw error
  }
}

/** The end of a run that nobody has observed yet is recorded before the next one begins. */
async function recordUnseenEnd(parts: Parts, agent: Agent): Promise<void> {
  const live = liveRun((await parts.runs.found(agent.id)).run)
  if (live && lifeOfRun(live) === 'dead') await observe(parts, new Set([agent.id]))
}

/** Without a role, an agent whose program has ended at once is left as it is, with its last lines, for its user to look at. */
const isKept = (error: unknown, hasRole: boolean): boolean =>
  !hasRole && error instanceof SkeinError && error.code === 'agent-died'

async function recordFailure({ home }: Parts, agent: Agent, steps: StartSteps): Promise<void> {
  const { name = 'start', note = '' } = steps.failed ?? {}
  const payload = { agent_id: agent.id, step: name, reason: note, steps: steps.list }
  await home.events.append({ type: 'agent_start_failed', agent: agent.address, payload })
}
