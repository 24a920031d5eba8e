import {
  type Agent,
  type AgentStatus,
  beacon,
  beaconText,
  type Instant,
  parseSessionId,
  type Role,
  type Roles,
  recipientOf,
  type SessionId,
  SkeinError,
  splitAddress,
} from '../../model/index.js'
import type { PaneInfo, Theme } from '../../terminal/index.js'
import type { ToolRunner } from '../../tools/index.js'
import type { AgentRun, Binding, LiveRun, Recipe } from '../agent-run.js'
import { type HandoffMarker, unfinished } from '../handoff/marker.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { fallOf } from '../recover/fall.js'
import { refuseForeign } from '../recover/owned-conversation.js'
import { turnBeforeStart } from '../status/turn-end.js'
import { endRun, endUnrecorded, refuseLeft } from './end-run.js'
import { checkGivenEnv, givenEnv, saveGivenEnv } from './given-env.js'
import { identityVariables } from './identity-variables.js'
import { begun, clearOldRuns, prepareRun } from './launch.js'
import { makePane, type Tier } from './make-pane.js'
import { readyRun } from './ready-run.js'
import { recordBeginning, recordEnd, recordFreshStart, recordHandoff } from './recorded-session.js'
import { refuseHeld } from './resume-plan.js'
import { elsewhere, lifeNow, lifeOfRun, placeName } from './run-life.js'
import { recipeOfTool, refuseNoDirectory, type StartPlan } from './start-plan.js'
import type { StartSteps } from './start-steps.js'
import { roleSessionName } from './tmux-name.js'

/** How long the processes of the run before may take to end when an agent is restarted. */
const RESTART_GRACE_MS = 2_000
/** The same for a run whose start is undone. */
const UNDO_GRACE_MS = 500

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

/** A run that has begun, with how to take it back. */
export interface Begun {
  run: LiveRun
  tier: Tier
  session: SessionId | undefined
  /** Its first prompt. */
  beacon: string | undefined
  /** The agent's file as it was. */
  before: AgentRun | undefined
  /** Removes the files of the run, and puts back the variables that the agent had. */
  discard(): void
}

/** What a start is made from. */
export interface Beginning extends Restart {
  plan?: StartPlan
  roles: Roles
  role: Role | undefined
  steps: StartSteps
}

/** Starts the agent's program: one change of its file. Nothing is left of it when a step fails. */
export async function beginRun(
  parts: Parts,
  agent: Agent,
  stored: AgentRun | undefined,
  options: Beginning,
  save: (next: AgentRun) => void,
) {
  const { plan, roles, role, steps } = options
  await parts.home.roster.agent(agent.id) // removed by another process since
  const current = stored ?? (plan && neverRun(parts, agent, plan.recipe))
  if (!current) return undefined
  const handoff = unfinished(current) // whoever starts the agent finishes it
  const tool = plan?.recipe.tool ?? handoff?.tool ?? agent.tool
  const { recipe: ofTool, binding: bound, other_tools } = recipeOfTool(current, tool)
  const { recipe, env, newEnv } = await steps.do('environment', () =>
    envFor(parts, agent, plan?.recipe ?? ofTool, options),
  )
  const runner = runnerOf(parts, recipe.tool)
  const { how, session: wanted } = conversationFor(parts, bound, recipe, { ...options, handoff })
  const purpose = how === 'new' ? purposeOf(parts, agent, recipe, options, handoff) : undefined
  const hello =
    role?.beacon && purpose
      ? await steps.do('prompt', () => helloFor(parts, agent, runner, options, purpose))
      : undefined
  if (hello === undefined) steps.skip('prompt', how === 'new' ? 'no beacon is asked for' : 'the conversation goes on')
  const tmuxSession = current.run?.tmux_session ?? roleSessionName(roles, agent)
  const prepared = await steps.do('command', async () => {
    refuseNoDirectory(recipe.cwd)
    if (how === 'resume' && wanted) await refuseHeld(parts, wanted, agent)
    if (how === 'resume' && wanted && !plan?.resume) await refuseForeign(parts, agent, current, wanted)
    await parts.terminals.of(parts.socket)
    const origin = { ...(options.fork ? { origin: options.fork } : {}), ...(options.isAside ? { isAside: true } : {}) }
    const facts = { agent, recipe, runner, how, session: wanted, ...origin, tmuxSession, env, roles }
    const given = await prepareRun(parts, facts)
    // Most programs choose the id of a copy themselves.
    return how === 'fork' ? { ...given, session: given.preparation.session } : given
  })
  const isGivenUp = await steps.do('end-before', () => endBefore(parts, agent, current, options))
  const { readied, claim, refused } = await steps.do('settings', () => readyRun(parts, agent, prepared))
  const { launching } = readied
  // A program that will never say which conversation it is in: this run is one.
  const isMade = readied.session === undefined && !runner.can.tells
  const session = isMade ? (handoff?.to ?? parseSessionId(parts.context.random.uuid())) : readied.session
  const status: AgentStatus = { status: 'starting', since: launching.started_at, source: 'process' }
  const isSame = how === 'resume' && bound?.session === session
  const learned = isMade ? 'made' : how === 'resume' ? how : prepared.preparation.capture ? 'captured' : 'chosen'
  const since = status.since
  const binding = session && bindingTo(session, { bound: isSame ? bound : undefined, how: learned, since })
  const { respawn, ...kept } = withoutRun(withoutTurn(current, isSame ? status.since : undefined))
  const before: AgentRun = {
    ...kept,
    recipe,
    launching,
    status,
    start: { at: steps.at, steps: steps.list, ...purpose },
    ...(respawn && options.isRespawn ? { respawn } : {}),
    ...(binding ? { binding } : {}),
    ...(other_tools && Object.keys(other_tools).length > 0 ? { other_tools } : {}),
  }
  const ended = current.run && { ...current.run, ended_at: current.run.ended_at ?? status.since }
  save({ ...before, ...(ended ? { run: ended } : {}) })
  claim?.[Symbol.dispose]()
  const restoreEnv = newEnv && saveGivenEnv(parts, agent, newEnv)
  const discard = (): void => {
    readied.discard()
    restoreEnv?.()
  }
  const facts = { agent, tool: recipe.tool, cwd: recipe.cwd, tmuxSession, session }
  const look = { environment: identityVariables(parts, runner, roles, facts), ...themeOf(roles, role, agent) }
  let made: { pane: PaneInfo; tier: Tier } | undefined
  try {
    const { pane, tier } = await steps.do(
      'session',
      async () => {
        made = await makePane(parts, agent, current, readied, look)
        return made
      },
      ({ tier }) => tier,
    )
    for (const name of ['remain-on-exit', 'tmux-environment'] as const) steps.done(name, 'with the session')
    if (look.theme) steps.done('theme', 'with the session')
    else steps.skip('theme', 'none is set')
    const fell = fallOf(current)
    const after = fell && { reason: fell.reason, at: current.run?.ended_at ?? status.since }
    const run: LiveRun = { ...begun(launching, pane), ...(after ? { after } : {}) }
    const next: AgentRun = { ...before, run, ...(handoff ? { handoff: { ...handoff, step: 'respawned' } } : {}) }
    delete next.launching
    await steps.do('record', () => recordStart(parts, agent, { next, how, before: bound?.session, session, handoff }))
    clearOldRuns(parts, agent, run.id)
    const told = [...(isGivenUp && current.run ? [givenUp(agent, current.run)] : []), ...(refused ? [refused] : [])]
    const payload = { agent_id: agent.id, recipe, run, ...(binding ? { binding } : {}), how }
    const about = session ? { session } : {}
    const count = next.respawn ? { respawn: next.respawn.count } : {}
    const spawned = { agent_id: agent.id, target: agent.address, tool: recipe.tool, how, ...count }
    const events = [
      ...told,
      { type: 'agent_started', ...about, payload },
      { type: 'spawn', ...about, payload: spawned, visibility: 'audit' as const },
    ]
    const result: Begun = { run, tier, session, beacon: hello, before: stored, discard }
    return { next: { ...next, start: { at: steps.at, steps: steps.list, ...purpose } }, events, result }
  } catch (error) {
    // When tmux did not answer, the pane may be there: then it is found by its mark.
    if (!made && error instanceof SkeinError && error.code === 'tmux-timeout') throw error
    if (made) await endMade(parts, agent, begun(launching, made.pane), made.tier)
    else await closeUnmade(parts, agent)
    await recordEnd(parts, session, 'killed', undone(steps))
    discard()
    const { launching: _launching, ...unbegun } = stored ?? { ...before, status: current.status }
    save({ ...unbegun, ...(ended ? { run: ended } : {}) })
    throw error
  }
}

export const undone = (steps: StartSteps): string => `the start failed at "${steps.failed?.name ?? 'its end'}"`

/** Ends a program whose start is taken back, and its tmux session unless that was there before. */
async function endMade(parts: Parts, agent: Agent, run: LiveRun, tier: Tier): Promise<void> {
  await endRun(parts, agent, run, UNDO_GRACE_MS).catch(() => [])
  if (tier === 'respawned') return
  const terminal = await parts.terminals.of(run.socket).catch(() => undefined)
  await terminal?.close(run.tmux_session).catch(() => undefined)
  await terminal?.endIfEmpty()
}

/** tmux refused something about a pane that it had made already: the mark says that it is this agent's. */
async function closeUnmade(parts: Parts, agent: Agent): Promise<void> {
  const terminal = await parts.terminals.of(parts.socket).catch(() => undefined)
  const left = (await terminal?.panes().catch(() => []))?.filter((pane) => pane.agent === agent.id && !pane.isDead)
  for (const { session } of left ?? []) await terminal?.close(session).catch(() => undefined)
}

/** Takes back a start whose later steps failed. The agent's file is as it was before, and its conversation with it. */
export async function undoRun(parts: Parts, agent: Agent, begunRun: Begun, steps: StartSteps): Promise<void> {
  const { run, tier, session, before } = begunRun
  await endMade(parts, agent, run, tier)
  await parts.runs.update(agent, async (current) => {
    if (current?.run?.id !== run.id) return undefined
    await recordEnd(parts, session, 'killed', undone(steps))
    const at = nowOf(parts)
    const status: AgentStatus = { status: 'stopped', since: at, source: 'process', reason: undone(steps) }
    const { run: _run, ...kept } = before ?? { v: 1 as const, agent: agent.id, recipe: current.recipe }
    const old = before?.run ? { run: { ...before.run, ended_at: before.run.ended_at ?? at } } : {}
    const payload = { agent_id: agent.id, run: run.id, how: 'undone', reason: undone(steps) }
    return { next: { ...kept, status, ...old }, events: [{ type: 'agent_stopped', payload }], result: undefined }
  })
  begunRun.discard()
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
  const by = handoff || caller === agent.address ? 'self' : caller
  const identity = by === undefined ? undefined : roles.parse(by)
  const person = roles.preset === 'gastown' ? 'human' : parts.context.actor
  const sender = identity ? recipientOf(identity, wordOf(roles)) : (by ?? person)
  return { topic: given ?? (recipe.work ? 'assigned' : 'cold-start'), sender }
}

function helloFor(
  parts: Parts,
  agent: Agent,
  runner: ToolRunner,
  { roles, role }: Beginning,
  { topic, sender }: { topic: string; sender: string },
): string {
  const { group, name } = splitAddress(agent.address)
  const identity = roles.parse(agent.address) ?? { role: role?.name ?? 'agent', name, ...(group ? { group } : {}) }
  return beaconText(
    beacon({
      recipient: recipientOf(identity, wordOf(roles)),
      sender,
      at: nowOf(parts),
      zone: parts.home.programs.zone(),
      topic,
      preset: roles.preset,
      isPrimed: runner.can.tells,
    }),
  )
}

const wordOf = ({ preset }: Roles): 'rig' | 'group' => (preset === 'gastown' ? 'rig' : 'group')

function themeOf(roles: Roles, role: Role | undefined, agent: Agent): { theme?: Theme } {
  const theme = roles.themeOf(role, agent.group_path)
  if (!theme) return {}
  return { theme: { ...theme, label: theme.label ?? [role?.name, agent.address].filter(Boolean).join(' ') } }
}

/** Which conversation the run is in, and how that is known. */
function bindingTo(
  session: SessionId,
  { bound, how, since }: Pick<Binding, 'how' | 'since'> & { bound: Binding | undefined },
): Binding {
  if (bound) return { ...bound, is_confirmed: false }
  return { session, since, how, is_confirmed: how === 'made' }
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
async function endBefore(parts: Parts, agent: Agent, { run, launching }: AgentRun, options: Restart): Promise<boolean> {
  refuseLeft(agent, await endUnrecorded(launching, RESTART_GRACE_MS))
  if (!run) return false
  const isLive = run.ended_at === undefined
  const life = isLive ? await lifeNow(parts, agent, run) : lifeOfRun(run)
  if (isLive && life === 'alive' && !options.replace) {
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
