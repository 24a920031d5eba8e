import {
  type Agent,
  type AgentStatus,
  groupLineage,
  type Instant,
  parseAddress,
  parseAgentId,
  parseSessionId,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import { isEndedNote, isListeningAt, type PaneInfo, restoreSocket } from '../../terminal/index.js'
import type { AgentRun, Binding, LiveRun, Recipe } from '../agent-run.js'
import type { StartAgent, StartNow } from '../agents.js'
import { keepEnvironment, withKeptEnvironment } from '../care/kept-environment.js'
import { type HandoffMarker, unfinished } from '../handoff/marker.js'
import { nowOf, type Parts, pause, runnerOf } from '../parts.js'
import { refuseForeign } from '../recover/owned-conversation.js'
import { refuseParked } from '../sling/admission.js'
import { START_GRACE_MS } from '../status/decide-status.js'
import { activityOf } from '../status/evidence.js'
import { type Observed, observe } from '../status/observe.js'
import { turnBeforeStart } from '../status/turn-end.js'
import { keptText } from '../talk/kept-text.js'
import { endRun, refuseLeft } from './end-run.js'
import { checkGivenEnv, givenEnv, saveGivenEnv } from './given-env.js'
import { begun, clearOldRuns, prepareRun, programMissing, type ReadyRun } from './launch.js'
import { readyRun } from './ready-run.js'
import { recordBeginning, recordEnd, recordFreshStart, recordHandoff } from './recorded-session.js'
import { refuseHeld } from './resume-plan.js'
import { elsewhere, lifeNow, lifeOfRun, placeName, serverOf } from './run-life.js'
import { planStart, recipeOfTool, refuseNoDirectory, type StartPlan } from './start-plan.js'
import { tmuxName, tmuxNameWithId } from './tmux-name.js'

/** How often a program that starts is looked at. */
const LOOK_MS = 60
/** How long the processes of the run before may take to end when an agent is restarted. */
const RESTART_GRACE_MS = 2_000
/** A program that lives this long has not failed to start. */
const PROVEN_MS = 600
/** What a shell says of a program that it cannot find. */
const NOT_FOUND = 'exited 127'
/** Lines of a program that ended at once, for its user to see why. */
const LAST_LINES = 12

/** Makes the agent when it does not exist, and keeps how it will be started. Nothing runs yet. */
export async function spawn(parts: Parts, options: StartAgent): Promise<Agent> {
  const plan = await planStart(parts, options)
  const agent = await rostered(parts, plan)
  await parts.runs.update(agent, (current) => {
    if (plan.env) saveGivenEnv(parts, agent, plan.env)
    const status: AgentStatus = current?.status ?? { status: 'stopped', since: nowOf(parts), source: 'process' }
    const next = { ...current, v: 1 as const, agent: agent.id, recipe: plan.recipe, status }
    return { next: { ...next, ...(current ? withRecipe(current, plan.recipe) : {}) }, result: undefined }
  })
  return agent
}

/** The agent on the roster as it is planned. */
async function rostered(
  { home: { roster } }: Parts,
  { known, address, facts, parent, recipe }: StartPlan,
): Promise<Agent> {
  const { tool, cwd } = recipe
  if (!known) return roster.add({ address, tool, project_path: cwd, ...facts, ...(parent ? { parent } : {}) })
  return Object.keys(facts).length > 0 ? roster.update(known.id, facts) : known
}

export interface Started {
  agent: Agent
  observed: Observed
  tier: 'respawned' | 'recreated'
  session: SessionId | undefined
}

export interface Restart {
  fresh?: boolean
  /** An agent that runs is ended first; without it, it is an error. By its id: only that very run. */
  replace?: boolean | LiveRun['id']
  /** With the environment of its last start, in place of that of this process. The daemon always does so. */
  asBefore?: boolean
  /** Also when the process before may still run where it cannot be seen. */
  force?: boolean
  env?: Readonly<Record<string, string>>
}

/** Starts an agent, new or known. What is refused leaves everything as it was; a new agent that does not begin is not left behind. */
export async function startAgent(parts: Parts, options: StartNow): Promise<Started> {
  // Two that are to go on with the same session: the second one has to see the first.
  using _resuming = options.resume === undefined ? undefined : await parts.runs.holdResume()
  const plan = await planStart(parts, options)
  await refuseParked(parts.home, parseAddress(plan.address))
  const restart = { force: options.force ?? false, plan }
  if (plan.known) {
    const started = await start(parts, { ...plan.known, ...plan.facts }, restart)
    return { ...started, agent: await rostered(parts, plan) }
  }
  await refuseUnstartable(parts, plan)
  const groups = new Set((await parts.home.roster.groups()).map(({ path }) => path))
  const agent = await rostered(parts, plan)
  try {
    return await start(parts, agent, restart)
  } catch (error) {
    await unmakeUnbegun(parts, agent, groups)
    throw error
  }
}

/** Before there is anything to undo: whether tmux and the program are there. */
async function refuseUnstartable(
  parts: Parts,
  { address, recipe, env = {}, resume: session }: StartPlan,
): Promise<void> {
  await parts.terminals.of(parts.socket)
  const agent = { id: parseAgentId(parts.context.random.uuid()), address: parseAddress(address) }
  const runner = runnerOf(parts, recipe.tool)
  await prepareRun(parts, { agent, recipe, runner, how: session ? 'resume' : 'new', session, tmuxSession: '', env })
}

/** Takes an agent back whose program never ran, with the groups that were made for it. One that may run is kept. */
async function unmakeUnbegun(parts: Parts, agent: Agent, groups: ReadonlySet<string>): Promise<void> {
  const { runs, terminals } = parts
  const { roster } = parts.home
  const { run, launching, status } = (await runs.read(agent.id)) ?? {}
  if (launching || (run && status?.reason !== NOT_FOUND)) return
  const terminal = run && (await terminals.of(run.socket).catch(() => undefined))
  if (run) await terminal?.close(run.tmux_session).catch(() => undefined) // gone already
  await roster.remove(agent.id)
  runs.forget(agent.id)
  const made = agent.group_path ? groupLineage(agent.group_path).filter((path) => !groups.has(path)) : []
  for (const path of made.reverse()) await roster.deleteGroup(path).catch(() => undefined) // another agent is in it by now
}

/** Starts the agent's program and stays until it is seen to live, or to have died. */
export async function start(
  parts: Parts,
  agent: Agent,
  options: Restart & { plan?: StartPlan } = {},
): Promise<Started> {
  const isAsBefore = options.asBefore === true || parts.isStaying
  const own = isAsBefore ? withKeptEnvironment(parts, agent) : parts
  const started = await parts.runs.update(agent, (current, save) => launch(own, agent, current, options, save))
  if (!started) throw new Error(`agent ${agent.id} has no recipe`)
  if (!isAsBefore) keepEnvironment(parts, agent)
  return { ...started, agent, observed: await untilAlive(parts, agent, started.run) }
}

async function launch(
  parts: Parts,
  agent: Agent,
  stored: AgentRun | undefined,
  options: Restart & { plan?: StartPlan },
  save: (next: AgentRun) => void,
) {
  await parts.home.roster.agent(agent.id) // removed by another process since
  const current = stored ?? (options.plan && neverRun(parts, agent, options.plan.recipe))
  if (!current) return undefined
  const handoff = unfinished(current) // whoever starts the agent finishes it
  const tool = options.plan?.recipe.tool ?? handoff?.tool ?? agent.tool
  const { recipe: ofTool, binding: bound, other_tools } = recipeOfTool(current, tool)
  const { recipe, env, newEnv } = envFor(parts, agent, options.plan?.recipe ?? ofTool, options)
  const runner = runnerOf(parts, recipe.tool)
  const { how, session: wanted } = conversationFor(parts, bound, recipe, { ...options, handoff })
  const tmuxSession = current.run?.tmux_session ?? tmuxName(agent)
  refuseNoDirectory(recipe.cwd)
  if (how === 'resume' && wanted) await refuseHeld(parts, wanted, agent)
  if (how === 'resume' && wanted && !options.plan?.resume) await refuseForeign(parts, agent, current, wanted)
  await parts.terminals.of(parts.socket)
  const prepared = await prepareRun(parts, { agent, recipe, runner, how, session: wanted, tmuxSession, env })
  const isGivenUp = await endBefore(parts, agent, current, options)
  const { readied, claim, refused } = await readyRun(parts, agent, prepared)
  const { launching } = readied
  // A program that will never say which conversation it is in: this run is one.
  const isMade = readied.session === undefined && !runner.can.tells
  const session = isMade ? (handoff?.to ?? parseSessionId(parts.context.random.uuid())) : readied.session
  const status: AgentStatus = { status: 'starting', since: launching.started_at, source: 'process' }
  const isSame = how === 'resume' && bound?.session === session
  const binding = session && bindingTo(session, { bound: isSame ? bound : undefined, how, isMade, since: status.since })
  const kept = withoutRun(withoutTurn(current, isSame ? status.since : undefined))
  const before: AgentRun = {
    ...kept,
    recipe,
    launching,
    status,
    ...(binding ? { binding } : {}),
    ...(other_tools && Object.keys(other_tools).length > 0 ? { other_tools } : {}),
  }
  const ended = current.run && { ...current.run, ended_at: current.run.ended_at ?? status.since }
  save({ ...before, ...(ended ? { run: ended } : {}) })
  claim?.[Symbol.dispose]()
  const restoreEnv = newEnv && saveGivenEnv(parts, agent, newEnv)
  const { pane, tier } = await makePane(parts, agent, current, readied).catch((error: unknown) => {
    // When tmux did not answer, the pane may be there: then it is found by its mark.
    if (error instanceof SkeinError && error.code === 'tmux-timeout') throw error
    readied.discard()
    restoreEnv?.()
    const { launching: _launching, ...unbegun } = stored ?? { ...before, status: current.status }
    save({ ...unbegun, ...(ended ? { run: ended } : {}) })
    throw error
  })
  const run = begun(launching, pane)
  const next: AgentRun = { ...before, run, ...(handoff ? { handoff: { ...handoff, step: 'respawned' } } : {}) }
  delete next.launching
  await recordStart(parts, agent, { next, how, before: bound?.session, session, handoff })
  clearOldRuns(parts, agent, run.id)
  const told = [...(isGivenUp && current.run ? [givenUp(agent, current.run)] : []), ...(refused ? [refused] : [])]
  const payload = { agent_id: agent.id, recipe, run, ...(binding ? { binding } : {}), how }
  const events = [...told, { type: 'agent_started', ...(session ? { session } : {}), payload }]
  return { next, events, result: { run, tier, session } }
}

/** Which conversation the run is in, and how that is known. */
function bindingTo(
  session: SessionId,
  { bound, how, isMade, since }: { bound: Binding | undefined; how: string; isMade: boolean; since: Instant },
): Binding {
  if (bound) return { ...bound, is_confirmed: false }
  return { session, since, how: isMade ? 'made' : how === 'resume' ? 'resume' : 'chosen', is_confirmed: isMade }
}

function withoutRun(current: AgentRun): Omit<AgentRun, 'run' | 'binding' | 'other_tools'> {
  const { run: _run, binding: _binding, other_tools: _others, ...kept } = current
  return kept
}

async function recordStart(
  parts: Parts,
  agent: Agent,
  {
    next,
    how,
    before,
    session,
    handoff,
  }: {
    next: AgentRun
    how: string
    before: SessionId | undefined
    session: SessionId | undefined
    handoff: HandoffMarker | undefined
  },
): Promise<void> {
  if (handoff?.kind === 'fresh' && session && session !== handoff.from)
    return recordHandoff(parts, agent, next, handoff.from, session, handoff.subject)
  if (how === 'new') return recordFreshStart(parts, agent, next, before, session)
  if (!session) return
  if (before !== session) await recordEnd(parts, before, 'exit', `continued in ${session}`)
  await recordBeginning(parts, agent, next, session)
}

const neverRun = (parts: Parts, agent: Agent, recipe: Recipe): AgentRun => ({
  v: 1,
  agent: agent.id,
  recipe,
  status: { status: 'stopped', since: nowOf(parts), source: 'process' },
})

/** The same agent with another recipe: what belongs to another tool is kept apart. */
const withRecipe = (current: AgentRun, recipe: Recipe): AgentRun => {
  const { binding: _binding, ...rest } = current
  return { ...rest, ...recipeOfTool(current, recipe.tool), recipe }
}

const givenUp = (agent: Agent, run: LiveRun) => ({
  type: 'agent_stopped',
  payload: { agent_id: agent.id, run: run.id, how: 'lost', reason: `it ran ${placeName(run)} and was abandoned` },
})

/**
 * What belonged to the turn of a process that is over. What was finished and not seen stays so where the conversation goes on
 * (`resumedAt`); in a new one nothing was said yet.
 */
function withoutTurn(run: AgentRun, resumedAt: Instant | undefined): AgentRun {
  const { told: _t, sample: _s, requests: _r, background: _b, busy_at: _u, refused: _f, prompted_at: _p, ...rest } = run
  const { turn_end: _e, quiet_at: _q, finished_at: _d, ...kept } = rest
  const end = resumedAt === undefined ? undefined : turnBeforeStart(run, resumedAt)
  return end ? { ...kept, turn_end: end } : kept
}

/** True when a process that cannot be reached was given up. */
async function endBefore(parts: Parts, agent: Agent, { run }: AgentRun, options: Restart): Promise<boolean> {
  if (!run) return false
  const isLive = run.ended_at === undefined
  const life = isLive ? await lifeNow(parts, agent, run) : lifeOfRun(run)
  const isReplaced = typeof options.replace === 'string' ? options.replace === run.id : options.replace
  if (isLive && life === 'alive' && !isReplaced) {
    const next = `Attach to it: skein attach ${agent.address} , or restart it: skein restart ${agent.address}`
    throw new SkeinError('agent-running', `${agent.address} is already running (process ${run.pid})`, next)
  }
  if (life === 'unknown') {
    if (isLive && !options.force) throw elsewhere(agent, run)
    return isLive
  }
  // Also when it has ended: what it left behind must not write into the conversation that is resumed.
  refuseLeft(agent, await endRun(parts, agent, run, RESTART_GRACE_MS))
  return false
}

/** The conversation it had, where the tool can go on with it; else one with an id that is chosen now, where that can be. */
function conversationFor(
  parts: Parts,
  binding: Binding | undefined,
  recipe: Recipe,
  { fresh, plan, handoff }: Restart & { plan?: StartPlan; handoff: HandoffMarker | undefined },
): { how: LiveRun['how']; session: SessionId | undefined } {
  const { can } = runnerOf(parts, recipe.tool)
  if (plan?.resume) return { how: 'resume', session: plan.resume }
  // A successor that was begun once is resumed like any other.
  if (handoff?.kind === 'fresh' && (handoff.to === undefined || binding?.session !== handoff.to))
    return { how: 'new', session: can.chooseId === 'flag' || can.chooseId === 'seed' ? handoff.to : undefined }
  if (binding && binding.how !== 'made' && can.resume && !fresh) return { how: 'resume', session: binding.session }
  const canChoose = can.chooseId === 'flag' || can.chooseId === 'seed'
  return { how: 'new', session: canChoose ? parseSessionId(parts.context.random.uuid()) : undefined }
}

/** A server that has lost its socket is used again: a second one in its place would take it from the agents of the first for good. */
async function reachServer({ runs, socket }: Parts): Promise<void> {
  if (!('path' in socket) || (await isListeningAt(socket.path))) return
  for (const { run } of await runs.all()) {
    const server = run && JSON.stringify(run.socket) === JSON.stringify(socket) ? serverOf(run) : undefined
    if (server && (await restoreSocket(socket.path, server))) return
  }
}

/** In the pane it had, so that who looks at it goes on looking; else in a new one. */
async function makePane(
  parts: Parts,
  agent: Agent,
  { run, recipe }: AgentRun,
  { script, launching }: ReadyRun,
): Promise<{ pane: PaneInfo; tier: Started['tier'] }> {
  await reachServer(parts)
  const terminal = await parts.terminals.of(parts.socket)
  const isSameServer = run && JSON.stringify(run.socket) === JSON.stringify(parts.socket)
  const old = isSameServer ? await terminal.pane(run.pane).catch(() => undefined) : undefined
  if (old?.agent === agent.id) {
    return { pane: await terminal.respawn(old.pane, { cwd: recipe.cwd, script }), tier: 'respawned' }
  }
  const wanted = { cwd: recipe.cwd, script, agent: agent.id }
  const create = async (session: string): Promise<PaneInfo> => {
    try {
      return await terminal.create({ ...wanted, session })
    } catch (error) {
      // The server had just been ended, being empty: then nothing was made, and a new one starts.
      if (!(error instanceof SkeinError) || error.code !== 'tmux-gone') throw error
      return terminal.create({ ...wanted, session })
    }
  }
  try {
    return { pane: await create(launching.tmux_session), tier: 'recreated' }
  } catch (error) {
    const isTaken =
      error instanceof SkeinError && error.code === 'tmux-refused' && /duplicate session/.test(error.message)
    if (!isTaken) throw error
    return { pane: await create(tmuxNameWithId(agent)), tier: 'recreated' }
  }
}

/** "Started" is only said of a program that has been seen alive: it tells so itself, its screen does, or it lives through the grace. */
async function untilAlive(parts: Parts, agent: Agent, run: LiveRun): Promise<Observed> {
  const only = new Set([agent.id])
  const begin = performance.now()
  for (;;) {
    const [seen] = await observe(parts, only)
    if (!seen) throw new Error(`agent ${agent.id} vanished while it was started`)
    const activity = seen.verdict && activityOf(seen.verdict.status)
    if (seen.run?.run?.id !== run.id) return seen // another process has started it anew meanwhile
    // Also when another process was the first to see it end.
    if (seen.isOver || seen.run.run.ended_at !== undefined) throw await diedAtOnce(parts, agent, seen)
    // What is drawn on a screen, a program may draw just before it fails: it has to outlive that.
    const isProven = seen.verdict?.decided?.source !== 'pane' || performance.now() - begin >= PROVEN_MS
    if (activity && activity !== 'starting' && isProven) return seen
    if (performance.now() - begin >= START_GRACE_MS) return seen
    await pause(LOOK_MS)
  }
}

async function diedAtOnce(parts: Parts, agent: Agent, { run, verdict }: Observed): Promise<SkeinError> {
  const live = run?.run
  const terminal = live && (await parts.terminals.of(live.socket).catch(() => undefined))
  const screen = live && (await terminal?.capture(live.pane, { history: LAST_LINES }).catch(() => undefined))
  // tmux pushes what stood on the screen up by a line to say that the pane is dead.
  const lines = (screen ?? '').split('\n').filter((line) => line.trim() !== '' && !isEndedNote(line))
  const shown = await keptText(parts, lines.slice(-LAST_LINES).join('\n'))
  const details = shown === '' ? [] : shown.split('\n')
  const why = verdict?.status.reason ?? 'the reason is unknown'
  if (why === NOT_FOUND && run) return programMissing(agent.address, run.recipe.tool)
  const said = details.length > 0 ? '. Its last lines are below' : ', without any output'
  const next = `Try the command by hand in ${run?.recipe.cwd}, then: skein restart ${agent.address}`
  return new SkeinError('agent-died', `${agent.address} did not start: ${why}${said}`, next, { details })
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
