import {
  type Agent,
  type AgentStatus,
  type Instant,
  type Role,
  type Roles,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import type { PaneInfo, Theme } from '../../terminal/index.js'
import type { AgentRun, Binding, LiveRun } from '../agent-run.js'
import { type HandoffMarker, handoffEvents, wasTold } from '../handoff/marker.js'
import { nowOf, type Parts } from '../parts.js'
import { fallOf } from '../recover/fall.js'
import { refuseStranded } from '../status/stranded.js'
import { turnBeforeStart } from '../status/turn-end.js'
import { withPrompt } from '../talk/pending-prompt.js'
import { endRun, endUnrecorded, refuseLeft } from './end-run.js'
import { saveGivenEnv } from './given-env.js'
import { identityVariables } from './identity-variables.js'
import { begun, type ReadyRun } from './launch.js'
import { makePane, type Tier } from './make-pane.js'
import { type Beginning, type PlannedRun, planRun, type Restart } from './planned-run.js'
import { readyRun } from './ready-run.js'
import { recordBeginning, recordEnd, recordFreshStart, recordHandoff } from './recorded-session.js'
import { elsewhere, lifeNow, lifeOfRun, placeName } from './run-life.js'
import type { StartSteps } from './start-steps.js'
import { startedEvents } from './started-events.js'

/** How long the processes of the run before may take to end when an agent is restarted. */
const RESTART_GRACE_MS = 2_000
/** The same for a run whose start is undone. */
const UNDO_GRACE_MS = 500

/** A run that has begun, with how to take it back. */
export interface Begun {
  run: LiveRun
  /** When its program was started, by the clock that only goes forward. */
  atMs: number
  tier: Tier
  session: SessionId | undefined
  /** Where it works. */
  cwd: string
  /** Its first prompt. */
  beacon: string | undefined
  /** The agent's file as it was. */
  before: AgentRun | undefined
  /** Removes the files of the run, and puts back the variables that the agent had. */
  discard(): void
}

/** Starts the agent's program: one change of its file. Nothing is left of it when a step fails. */
export async function beginRun(
  parts: Parts,
  agent: Agent,
  stored: AgentRun | undefined,
  options: Beginning,
  save: (next: AgentRun) => Promise<void>,
) {
  const { role, roles, steps } = options
  const planned = await planRun(parts, agent, stored, options)
  if (!planned) return undefined
  const { current, recipe, runner, tmuxSession } = planned
  const isGivenUp = await steps.do('end-before', () => endBefore(parts, agent, current, options))
  const { readied, claim, refused } = await steps.do('settings', () => readyRun(parts, agent, planned.prepared))
  const { launching } = readied
  const starting = startingRun(planned, readied, options)
  const { before, session } = starting
  const ended = current.run && { ...current.run, ended_at: current.run.ended_at ?? before.status.since }
  await save({ ...before, ...(ended ? { run: ended } : {}) })
  claim?.[Symbol.dispose]()
  const restoreEnv = planned.newEnv && saveGivenEnv(parts, agent, planned.newEnv)
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
    const atMs = performance.now()
    notePane(steps, look.theme)
    const { next, events } = await recordedRun(parts, agent, planned, starting, begun(launching, pane), steps)
    const told = [...(isGivenUp && current.run ? [givenUp(agent, current.run)] : []), ...(refused ? [refused] : [])]
    const ran = { run: next.run, atMs, tier, session, cwd: recipe.cwd }
    const result: Begun = { ...ran, beacon: planned.hello, before: stored, discard }
    const start = { at: steps.at, steps: steps.list, ...planned.purpose }
    return { next: { ...next, start }, events: [...told, ...events], result }
  } catch (error) {
    // When tmux did not answer, the pane may be there: then it is found by its mark.
    if (!made && error instanceof SkeinError && error.code === 'tmux-timeout') throw error
    if (made) await endMade(parts, agent, begun(launching, made.pane), made.tier)
    else await closeUnmade(parts, agent)
    await recordEnd(parts, session, 'killed', undone(steps))
    discard()
    const { launching: _launching, ...unbegun } = stored ?? { ...before, status: current.status }
    await save({ ...unbegun, ...(ended ? { run: ended } : {}) })
    throw error
  }
}

/** The agent's file while its program is being started, and the conversation that it starts in. */
interface StartingRun {
  readonly before: AgentRun
  readonly session: SessionId | undefined
  readonly binding: Binding | undefined
}

function startingRun(planned: PlannedRun, readied: ReadyRun, { isRespawn, steps }: Beginning): StartingRun {
  const { current, recipe, how, bound, other_tools, prepared, purpose } = planned
  const { launching } = readied
  const session = readied.session ?? prepared.made
  const isMade = readied.session === undefined && session !== undefined
  const status: AgentStatus = { status: 'starting', since: launching.started_at, source: 'process' }
  const isSame = how === 'resume' && bound?.session === session
  const learned = isMade ? 'made' : how === 'resume' ? how : prepared.preparation.capture ? 'captured' : 'chosen'
  const since = status.since
  const binding = session && bindingTo(session, { bound: isSame ? bound : undefined, how: learned, since })
  const { respawn, ...kept } = withoutRun(withoutTurn(current, isSame ? since : undefined))
  const before: AgentRun = {
    ...kept,
    recipe,
    launching,
    status,
    start: { at: steps.at, steps: steps.list, ...purpose },
    ...(respawn && isRespawn ? { respawn } : {}),
    ...(binding ? { binding } : {}),
    ...(other_tools && Object.keys(other_tools).length > 0 ? { other_tools } : {}),
  }
  return { before, session, binding }
}

/** Records the session of a run whose pane is there. */
async function recordedRun(
  parts: Parts,
  agent: Agent,
  { current, how, bound, handoff, hello }: PlannedRun,
  { before, session }: StartingRun,
  started: LiveRun,
  steps: StartSteps,
) {
  const fell = fallOf(current)
  const after = fell && { reason: fell.reason, at: current.run?.ended_at ?? before.status.since }
  const run: LiveRun = { ...started, ...(after ? { after } : {}) }
  const made = { ...before, run, ...(handoff ? { handoff: { ...handoff, step: 'respawned' as const } } : {}) }
  // In the same change: from here on nobody else would give a successor its first prompt.
  const next = handoff && hello !== undefined ? { ...withPrompt(parts, agent, made, hello), run } : made
  delete next.launching
  await steps.do('record', () => recordStart(parts, agent, { next, how, before: bound?.session, session, handoff }))
  const isUntold = handoff?.step === 'marked' && !(await wasTold(parts, handoff))
  return { next, events: [...(isUntold ? handoffEvents(handoff) : []), ...startedEvents(agent, next)] }
}

/** tmux did these with the session. */
function notePane(steps: StartSteps, theme: Theme | undefined): void {
  for (const name of ['remain-on-exit', 'tmux-environment'] as const) steps.done(name, 'with the session')
  if (theme) steps.done('theme', 'with the session')
  else steps.skip('theme', 'none is set')
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
    return recordHandoff(parts, agent, next, handoff.from, session, { subject: handoff.subject })
  if (how === 'new') return recordFreshStart(parts, agent, next, before, session)
  if (!session) return
  if (before !== session) await recordEnd(parts, before, 'exit', `continued in ${session}`)
  await recordBeginning(parts, agent, next, session)
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
  const { turn_end: _e, quiet_at: _q, finished_at: _d, sent_at: _n, ...kept } = rest
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
    await refuseStranded(parts, agent, run)
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
