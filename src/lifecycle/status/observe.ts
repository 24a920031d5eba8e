import { type ProcessOwner, whereaboutsOf } from '../../disk/index.js'
import { type Agent, type AgentId, type Evidence, type Instant, msOf } from '../../model/index.js'
import type { PaneInfo, TmuxSocket } from '../../terminal/index.js'
import type { Environment, ScreenReading, ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { begun } from '../run/launch.js'
import { sweepLaunchScripts } from '../run/launch-leftovers.js'
import { paneOf, serverOf } from '../run/run-life.js'
import { dialogPrint } from '../talk/asks.js'
import type { Look } from '../terminals.js'
import { unknownBy, type Verdict } from './decide-status.js'
import { activityOf } from './evidence.js'
import { withFirstPicture } from './first-picture.js'
import { takeIn } from './intake.js'
import { processSeen } from './process-evidence.js'
import { withQuiet } from './quiet-screen.js'
import { registeredOf } from './registry-reader.js'
import { withSteadyDialog } from './steady-dialog.js'
import { storeGlance } from './store-glance.js'

/** An agent as it was just seen. */
export interface Observed {
  agent: Agent
  run: AgentRun | undefined
  verdict: Verdict | undefined
  /** What was looked at, beside what was told. */
  seen: readonly Evidence[]
  pane?: PaneInfo
  /** Its process has ended, by evidence from where it ran. */
  isOver?: boolean
  reading?: ScreenReading
}

/**
 * Looks at agents once: takes in what they told, asks each tmux server for its panes, reads registries, and reads the screens of
 * those that do not tell by themselves. What has changed is stored, with the evidence. Agents that do not run cost a read of
 * their file and no process.
 */
export async function observe(parts: Parts, only?: ReadonlySet<AgentId>): Promise<Observed[]> {
  const all = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
  sweepLaunchScripts(parts)
  await takeIn(parts, all)
  const agents = [...all.values()].filter(({ id }) => !only || only.has(id))
  const found = await Promise.all(agents.map(async (agent) => ({ agent, ...(await parts.runs.found(agent.id)) })))
  const unreadable = found.flatMap(({ agent, problem }) =>
    problem === undefined ? [] : [unread(parts, agent, problem)],
  )
  const looks = await lookAll(parts, found)
  const readable = found.filter(({ problem }) => problem === undefined)
  const glances = readable.map(({ agent, run }) => glance(parts, agent, run, looks))
  const readings = await readScreens(parts, glances)
  const read = await Promise.all(glances.map((one) => withReading(parts, one, readings)))
  // What a new dialog is for was told a moment before it was drawn, which may be after the spool was emptied.
  if (read.some(isNewDialog)) await takeIn(parts, all)
  return [...(await Promise.all(read.map((one) => storeGlance(parts, all, one)))), ...unreadable]
}

/** An agent of which nothing is known, because its file cannot be read. */
function unread(parts: Parts, agent: Agent, problem: string): Observed {
  const evidence: Evidence = { source: 'process', at: nowOf(parts), status: 'unknown', reason: problem }
  return { agent, run: undefined, verdict: unknownBy(evidence), seen: [evidence] }
}

const isNewDialog = ({ reading, run }: Glance): boolean =>
  reading?.dialog !== undefined && dialogPrint(reading.dialog) !== run?.dialog

/** What one look at an agent has shown. */
export interface Glance {
  agent: Agent
  run: AgentRun | undefined
  live: LiveRun | undefined
  runner: ToolRunner | undefined
  pane?: PaneInfo
  process?: Evidence
  /** Its process has ended, by evidence from where it ran. */
  isOver?: boolean
  registry?: ReturnType<typeof registeredOf>
  reading?: ScreenReading
  seen: Evidence[]
}

async function lookAll(parts: Parts, found: readonly { run: AgentRun | undefined }[]): Promise<Map<string, Look>> {
  const sockets = new Map<string, { socket: TmuxSocket; server: ProcessOwner | undefined }>()
  for (const { run } of found) {
    const live = liveRun(run) ?? run?.launching
    if (!live) continue
    const key = JSON.stringify(live.socket)
    sockets.set(key, { socket: live.socket, server: serverOf(live) ?? sockets.get(key)?.server })
  }
  const looks = [...sockets].map(
    async ([key, { socket, server }]) => [key, await parts.terminals.look(socket, server)] as const,
  )
  return new Map(await Promise.all(looks))
}

function glance(parts: Parts, agent: Agent, run: AgentRun | undefined, looks: ReadonlyMap<string, Look>): Glance {
  const runner = run && parts.runners.find(({ name }) => name === run.recipe.tool)
  const look = looks.get(JSON.stringify(liveRun(run)?.socket ?? run?.launching?.socket))
  const live = liveRun(run) ?? adopted(agent, run, look)
  if (!run || !live || !look) return { agent, run, live: undefined, runner, seen: [] }
  const pane = paneOf(agent, live, look)
  const at = nowOf(parts)
  const { evidence: process, isOver } = processSeen(live, look, pane, runner, at)
  const isAlive = process.status === 'running'
  const isHere = whereaboutsOf(live.place) === 'here'
  const registry = runner && isAlive && isHere ? registeredOf(runner, live, environmentOf(parts, run)) : undefined
  const title = pane && isAlive ? runner?.readTitle(pane.title) : undefined
  const seen = [process, ...(registry ? [registry.evidence] : []), ...(title ? [{ ...title, at }] : [])]
  return { agent, run, live, runner, ...(pane ? { pane } : {}), process, isOver, registry, seen }
}

/** An account that is no longer configured is looked for where the tool is without one. */
function environmentOf(parts: Parts, { recipe }: AgentRun): Environment {
  try {
    return environmentFor(parts, recipe)
  } catch {
    return parts.environment
  }
}

/**
 * A pane that was made by a process that was killed before it could say so. One that still has the process of the run before is about to be
 * given the new one: its end says nothing about that.
 */
function adopted(agent: Agent, run: AgentRun | undefined, look: Look | undefined): LiveRun | undefined {
  const { launching, run: before } = run ?? {}
  if (!launching || look?.kind !== 'panes') return undefined
  const pane = [...look.panes.values()].find((one) => one.agent === agent.id && one.session === launching.tmux_session)
  return pane && pane.pid !== before?.pid ? begun(launching, pane) : undefined
}

/** Only of those that do not say by themselves what they do, and of those that ask: their screen says what. */
async function readScreens(parts: Parts, glances: readonly Glance[]): Promise<Map<AgentId, string>> {
  const wanted = glances.filter(({ live, pane, process, registry }) => {
    const said = registry && activityOf(registry.evidence)
    return live && pane && process?.status === 'running' && (said === undefined || said === 'blocked')
  })
  const screens = new Map<AgentId, string>()
  const sockets = new Set(wanted.map(({ live }) => JSON.stringify(live?.socket)))
  for (const key of sockets) {
    const here = wanted.filter(({ live }) => JSON.stringify(live?.socket) === key)
    const socket = here[0]?.live?.socket
    if (!socket) continue
    const panes = here.flatMap(({ pane }) => (pane ? [pane.pane] : []))
    const captured = await (await parts.terminals.of(socket)).captureAll(panes).catch(() => undefined)
    for (const { agent, pane } of here) {
      const screen = pane && captured?.get(pane.pane)
      if (screen !== undefined) screens.set(agent.id, screen)
    }
  }
  return screens
}

/** A program that has drawn nothing is still starting: on a slow machine that takes a while. */
const DRAWS_WITHIN_MS = 120_000
/** One of which nobody says how it looks when it is ready may draw nothing at all until it is told something. */
const MAY_STAY_BLANK_MS = 8_000
const isStarting = ({ context }: Parts, { live, runner }: Glance): boolean => {
  const within = runner?.isIdleWhenQuiet ? MAY_STAY_BLANK_MS : DRAWS_WITHIN_MS
  return live !== undefined && context.clock.now() - msOf(live.started_at) < within
}
const BLANK: ScreenReading = { status: 'starting', reason: 'its screen is still empty' }

async function withReading(parts: Parts, one: Glance, screens: ReadonlyMap<AgentId, string>): Promise<Glance> {
  const screen = screens.get(one.agent.id)
  const { pane, runner, live, run } = one
  if (screen === undefined || !pane || !runner || !live) return one
  const { title, width } = pane
  const lines = screen.split('\n')
  const isBlank = lines.every((line) => line.trim() === '') && isStarting(parts, one)
  const nowMs = parts.context.clock.now()
  const drawn = isBlank ? BLANK : runner.readScreen({ lines, title, width })
  const shown = withFirstPicture(runner, drawn, { lines, title, width }, pane, run, nowMs)
  const read = withQuiet(runner, shown, pane, run?.status, nowMs)
  const mustCome = hasJustAsked(parts, one)
  const reading =
    read.dialog || mustCome ? await withSteadyDialog(parts, runner, live, read, run?.dialog, mustCome) : read
  return { ...one, reading, seen: [...one.seen, paneEvidence(reading, nowOf(parts))] }
}

/** So long after a program said that it asks, what it asks may still be on its way: drawn late, or told late. */
const ASKED_MS = 1_500

/** It says that it asks, and so far neither its screen nor a message has said what. */
function hasJustAsked({ context }: Parts, { registry, run }: Glance): boolean {
  if (!registry || activityOf(registry.evidence) !== 'blocked' || run?.requests?.length) return false
  const age = context.clock.now() - msOf(registry.evidence.at)
  return age >= 0 && age < ASKED_MS
}

function paneEvidence(reading: ScreenReading, at: Instant): Evidence {
  const { status, reason, waiting_for, trouble, rule } = reading
  return {
    source: 'pane',
    at,
    status,
    ...(reason ? { reason } : {}),
    ...(waiting_for ? { waiting_for } : {}),
    ...(trouble ? { trouble } : {}),
    ...(rule ? { rule } : {}),
  }
}
