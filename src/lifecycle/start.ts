import { basename } from 'node:path'
import { statOf } from '../disk/index.js'
import {
  type Agent,
  type AgentStatus,
  type Instant,
  parseSessionId,
  type SessionId,
  SkeinError,
} from '../model/index.js'
import { isListeningAt, type PaneInfo, restoreSocket } from '../terminal/index.js'
import { type AgentRun, type LiveRun, liveRun, type Recipe } from './agent-run.js'
import type { StartAgent } from './agents.js'
import { START_GRACE_MS } from './decide-status.js'
import { endRun, refuseLeft } from './end-run.js'
import { activityOf } from './evidence.js'
import { begun, clearOldRuns, givenEnv, type Readied, ready, saveGivenEnv } from './launch.js'
import { type Observed, observe } from './observe.js'
import { nowOf, type Parts, pause, runnerOf } from './parts.js'
import { elsewhere, lifeNow, lifeOfRun, placeName, serverOf } from './run-life.js'
import { recordBeginning, recordFreshStart } from './session-records.js'
import { tmuxName, tmuxNameWithId } from './tmux-name.js'
import { turnBeforeStart } from './turn-end.js'

/** How often a program that starts is looked at. */
const LOOK_MS = 60
/** How long the processes of the run before may take to end when an agent is restarted. */
const RESTART_GRACE_MS = 2_000
/** Lines of a program that ended at once, for its user to see why. */
const LAST_LINES = 12

/** The agent that is meant, made when it does not exist, with how it will be started. Nothing runs yet. */
export async function spawn(parts: Parts, options: StartAgent, isDurable = true): Promise<Agent> {
  const agent = await agentFor(parts, options)
  const env = { ...options.env }
  await parts.runs.update(agent, (current) => {
    const cwd = options.cwd ?? current?.recipe.cwd ?? agent.project_path
    if (cwd === undefined) throw noPlace(agent)
    if (Object.keys(env).length > 0) saveGivenEnv(parts, agent, env)
    const recipe = current && !isTold(options) ? { ...current.recipe, cwd } : recipeFor(parts, agent, options, cwd)
    const status: AgentStatus = current?.status ?? { status: 'stopped', since: nowOf(parts), source: 'process' }
    return { next: { ...current, v: 1, agent: agent.id, recipe, status }, isDurable, result: undefined }
  })
  return agent
}

/** Whether anything was said about how to start: an agent that exists is otherwise started as it was before. */
const isTold = (options: StartAgent): boolean =>
  [options.tool, options.model, options.env, options.mcp, options.args, options.dangerous, options.work].some(
    (given) => given !== undefined,
  )

export interface Started {
  observed: Observed
  tier: 'respawned' | 'recreated'
  session: SessionId | undefined
}

export interface Restart {
  fresh?: boolean
  /** An agent that runs is ended first; without it, it is an error. */
  replace?: boolean
  /** Also when the process before may still run where it cannot be seen. */
  force?: boolean
  env?: Readonly<Record<string, string>>
}

/** Starts the agent's program and stays until it is seen to live, or to have died. */
export async function start(parts: Parts, agent: Agent, options: Restart = {}): Promise<Started> {
  const started = await parts.runs.update(agent, (current, save) => launch(parts, agent, current, options, save))
  if (!started) throw new Error(`agent ${agent.id} has no recipe`)
  return { ...started, observed: await untilAlive(parts, agent, started.run) }
}

async function launch(
  parts: Parts,
  agent: Agent,
  current: AgentRun | undefined,
  options: Restart,
  save: (next: AgentRun) => void,
) {
  if (!current) return undefined
  const runner = runnerOf(parts, current.recipe.tool)
  const recipe = withEnv(parts, agent, current.recipe, options.env)
  const env = givenEnv(parts, agent, recipe)
  refuseNoDirectory(recipe.cwd)
  const isGivenUp = await endBefore(parts, agent, current, options)
  const { how, session: wanted } = conversationFor(parts, current, options)
  const tmuxSession = liveTmuxName(current) ?? tmuxName(agent)
  const readied = await ready(parts, { agent, recipe, runner, how, session: wanted, tmuxSession, env })
  const { launching, session } = readied
  const status: AgentStatus = { status: 'starting', since: launching.started_at, source: 'process' }
  const binding =
    session === undefined
      ? undefined
      : how === 'resume' && current.binding
        ? { ...current.binding, is_confirmed: false }
        : { session, since: launching.started_at, how: 'chosen' as const, is_confirmed: false }
  const { run: _run, binding: _binding, ...kept } = withoutTurn(current, how === 'new' ? undefined : status.since)
  const before: AgentRun = { ...kept, recipe, launching, status, ...(binding ? { binding } : {}) }
  save({
    ...before,
    ...(current.run ? { run: { ...current.run, ended_at: current.run.ended_at ?? status.since } } : {}),
  })
  const { pane, tier } = await makePane(parts, agent, current, readied)
  const run = begun(launching, pane)
  const next: AgentRun = { ...before, run }
  delete next.launching
  if (how === 'new') await recordFreshStart(parts, agent, next, current.binding?.session, session)
  else if (session) await recordBeginning(parts, agent, next, session)
  clearOldRuns(parts, agent, run.id)
  const payload = { agent_id: agent.id, recipe, run, ...(binding ? { binding } : {}), how }
  return {
    next,
    events: [
      ...(isGivenUp && current.run ? [givenUp(agent, current.run)] : []),
      { type: 'agent_started', ...(session ? { session } : {}), payload },
    ],
    result: { run, tier, session },
  }
}

const givenUp = (agent: Agent, run: LiveRun) => ({
  type: 'agent_stopped',
  payload: { agent_id: agent.id, run: run.id, how: 'lost', reason: `it ran ${placeName(run)} and was given up` },
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
  if (isLive && life === 'alive' && !options.replace) {
    const next = `Attach to it: skein attach ${agent.address} , or start it anew: skein restart ${agent.address}`
    throw new SkeinError('agent-running', `${agent.address} runs already (process ${run.pid})`, next)
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
  { binding, recipe }: AgentRun,
  { fresh }: Restart,
): { how: LiveRun['how']; session: SessionId | undefined } {
  const { can } = runnerOf(parts, recipe.tool)
  if (binding && can.resume && !fresh) return { how: 'resume', session: binding.session }
  const canChoose = can.chooseId === 'flag' || can.chooseId === 'seed'
  return { how: 'new', session: canChoose ? parseSessionId(parts.context.random.uuid()) : undefined }
}

const liveTmuxName = ({ run }: AgentRun): string | undefined => run?.tmux_session

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
  { script, launching }: Readied,
): Promise<{ pane: PaneInfo; tier: Started['tier'] }> {
  await reachServer(parts)
  const terminal = await parts.terminals.of(parts.socket)
  const isSameServer = run && JSON.stringify(run.socket) === JSON.stringify(parts.socket)
  const old = isSameServer ? await terminal.pane(run.pane).catch(() => undefined) : undefined
  if (old?.agent === agent.id) {
    return { pane: await terminal.respawn(old.pane, { cwd: recipe.cwd, script }), tier: 'respawned' }
  }
  const wanted = { cwd: recipe.cwd, script, agent: agent.id }
  try {
    return { pane: await terminal.create({ ...wanted, session: launching.tmux_session }), tier: 'recreated' }
  } catch (error) {
    const isTaken =
      error instanceof SkeinError && error.code === 'tmux-refused' && /duplicate session/.test(error.message)
    if (!isTaken) throw error
    return { pane: await terminal.create({ ...wanted, session: tmuxNameWithId(agent) }), tier: 'recreated' }
  }
}

/** "Started" is only said of a program that has been seen alive: it tells so itself, its screen does, or it lives through the grace. */
async function untilAlive(parts: Parts, agent: Agent, run: LiveRun): Promise<Observed> {
  const only = new Set([agent.id])
  const until = performance.now() + START_GRACE_MS
  for (;;) {
    const [seen] = await observe(parts, only)
    if (!seen) throw new Error(`agent ${agent.id} vanished while it was started`)
    const activity = seen.verdict && activityOf(seen.verdict.status)
    if (seen.run?.run?.id !== run.id) return seen // another process has started it anew meanwhile
    if (activity === 'failed' && !liveRun(seen.run)) throw await diedAtOnce(parts, agent, seen)
    if (activity === 'over') throw await diedAtOnce(parts, agent, seen)
    if (activity && activity !== 'starting') return seen
    if (performance.now() >= until) return seen
    await pause(LOOK_MS)
  }
}

async function diedAtOnce(parts: Parts, agent: Agent, { run, verdict }: Observed): Promise<SkeinError> {
  const live = run?.run
  const terminal = live && (await parts.terminals.of(live.socket).catch(() => undefined))
  const screen = live && (await terminal?.capture(live.pane, { history: LAST_LINES }).catch(() => undefined))
  // tmux pushes what stood on the screen up by a line to say that the pane is dead.
  const lines = (screen ?? '').split('\n').filter((line) => line.trim() !== '' && !/^Pane is dead/.test(line))
  const details = lines.slice(-LAST_LINES)
  const why = verdict?.status.reason ?? 'no reason is known'
  if (why === 'exited 127' && run) {
    // What a shell says of a program that it cannot find.
    const { tool } = run.recipe
    const install = `Install it or put it on your PATH (skein tool show ${tool}), then: skein restart ${agent.address}`
    return new SkeinError('agent-died', `${agent.address} did not start: the program of ${tool} was not found`, install)
  }
  const said = details.length > 0 ? '. Its last lines are below' : ', without a word'
  const next = `Try the command by hand in ${run?.recipe.cwd}, then: skein restart ${agent.address}`
  return new SkeinError('agent-died', `${agent.address} did not start: ${why}${said}`, next, { details })
}

// --- which agent, and how ---------------------------------------------------------------------------------------------

async function agentFor(parts: Parts, options: StartAgent): Promise<Agent> {
  const { roster } = parts.home
  const address = await addressFor(parts, options)
  const known = (await roster.agents()).find((agent) => agent.address === address)
  const tool = options.tool ?? known?.tool ?? parts.defaultTool
  runnerOf(parts, tool)
  const { title, role, parent, cwd } = options
  const mcp = options.mcp ? { loaded_mcp_names: [...options.mcp] } : {}
  const facts = { ...(title ? { title } : {}), ...(role ? { role } : {}), ...mcp }
  if (!known) {
    const place = cwd === undefined ? {} : { project_path: cwd }
    return roster.add({ address, tool, ...place, ...facts, ...(parent ? { parent } : {}) })
  }
  const isOther = tool !== known.tool || Object.keys(facts).length > 0
  return isOther ? roster.update(known.id, { tool, ...facts }) : known
}

/** As given, or made up from the directory: `web`, `web-2`, … */
async function addressFor(parts: Parts, { agent, group, cwd = 'agent' }: StartAgent): Promise<string> {
  const prefix = group ? `${group}/` : ''
  if (agent !== undefined) return agent.includes('/') || !group ? agent : prefix + agent
  const name = basename(cwd)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}_]+/u, '')
    .slice(0, 48)
  const taken = new Set<string>((await parts.home.roster.agents()).map(({ address }) => address))
  for (let n = 1; ; n += 1) {
    const address = `${prefix}${name || 'agent'}${n === 1 ? '' : `-${n}`}`
    if (!taken.has(address)) return address
  }
}

const noPlace = (agent: Agent): SkeinError =>
  new SkeinError(
    'bad-input',
    `It is not known where ${agent.address} is to run`,
    `Say where: skein start <directory> --agent ${agent.address}`,
  )

function recipeFor(parts: Parts, agent: Agent, options: StartAgent, cwd: string): Recipe {
  const { model, args, mcp, dangerous, work } = options
  const names = Object.keys(options.env ?? {})
  return {
    tool: options.tool ?? agent.tool ?? parts.defaultTool,
    cwd,
    ...(model ? { model } : {}),
    ...(args && args.length > 0 ? { args: [...args] } : {}),
    ...(mcp && mcp.length > 0 ? { mcp: [...mcp] } : {}),
    ...(dangerous ? { dangerous } : {}),
    ...(work ? { work } : {}),
    ...(names.length > 0 ? { env_names: names } : {}),
  }
}

function withEnv(
  parts: Parts,
  agent: Agent,
  recipe: Recipe,
  env: Readonly<Record<string, string>> | undefined,
): Recipe {
  if (!env || Object.keys(env).length === 0) return recipe
  const kept = (recipe.env_names ?? []).filter((name) => !Object.hasOwn(env, name))
  const values = { ...givenEnv(parts, agent, { ...recipe, env_names: kept }), ...env }
  saveGivenEnv(parts, agent, values)
  return { ...recipe, env_names: Object.keys(values) }
}

function refuseNoDirectory(cwd: string): void {
  if (statOf(cwd)?.isDirectory()) return
  throw new SkeinError('bad-input', `There is no directory ${cwd}`, 'Make it, or start the agent in another one')
}
