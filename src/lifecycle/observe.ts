import { statSync } from 'node:fs'
import { lifeOf } from '../disk/index.js'
import type { NewEvent } from '../home/index.js'
import {
  type Agent,
  type AgentId,
  type AgentStatus,
  type Evidence,
  type Instant,
  instantOf,
  laterOf,
  type Outcome,
} from '../model/index.js'
import type { PaneInfo } from '../terminal/index.js'
import type { ScreenReading, ToolRunner } from '../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from './agent-run.js'
import { decideStatus, type Sighting, type Verdict } from './decide-status.js'
import { activityOf } from './evidence.js'
import { holderOf, judge, settleIdentity, takeIn } from './intake.js'
import { nowOf, type Parts } from './parts.js'
import { isWithinTree, processNames } from './process-family.js'
import { registeredOf } from './registry-reader.js'
import { recordEnd } from './session-records.js'
import type { Look } from './terminals.js'

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh'])

/** An agent as it was just seen. */
export interface Observed {
  agent: Agent
  run: AgentRun | undefined
  verdict: Verdict | undefined
  /** What was looked at, beside what was told. */
  seen: readonly Evidence[]
  pane?: PaneInfo
  reading?: ScreenReading
}

/**
 * Looks at agents once: takes in what they told, asks each tmux server for its panes, reads registries, and reads the screens of
 * those that do not tell by themselves. What has changed is stored, with the evidence. Agents that do not run cost a read of
 * their file and no process.
 */
export async function observe(parts: Parts, only?: ReadonlySet<AgentId>): Promise<Observed[]> {
  const all = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
  await takeIn(parts, all)
  const agents = [...all.values()].filter(({ id }) => !only || only.has(id))
  const found = await Promise.all(agents.map(async (agent) => ({ agent, run: await parts.runs.read(agent.id) })))
  const looks = await lookAll(parts, found)
  const glances = found.map(({ agent, run }) => glance(parts, agent, run, looks))
  const readings = await readScreens(parts, glances)
  return Promise.all(glances.map((one) => store(parts, all, withReading(parts, one, readings))))
}

interface Glance {
  agent: Agent
  run: AgentRun | undefined
  live: LiveRun | undefined
  runner: ToolRunner | undefined
  pane?: PaneInfo
  process?: Evidence
  registry?: ReturnType<typeof registeredOf>
  reading?: ScreenReading
  seen: Evidence[]
}

// --- looking ----------------------------------------------------------------------------------------------------------

async function lookAll(parts: Parts, found: readonly { run: AgentRun | undefined }[]): Promise<Map<string, Look>> {
  const sockets = new Map(
    found.flatMap(({ run }) => {
      const socket = liveRun(run)?.socket ?? run?.launching?.socket
      return socket ? [[JSON.stringify(socket), socket] as const] : []
    }),
  )
  const looks = [...sockets].map(async ([key, socket]) => [key, await parts.terminals.look(socket)] as const)
  return new Map(await Promise.all(looks))
}

function glance(parts: Parts, agent: Agent, run: AgentRun | undefined, looks: ReadonlyMap<string, Look>): Glance {
  const runner = run && parts.runners.find(({ name }) => name === run.recipe.tool)
  const look = looks.get(JSON.stringify(liveRun(run)?.socket ?? run?.launching?.socket))
  const live = liveRun(run) ?? adopted(agent, run, look)
  if (!run || !live || !look) return { agent, run, live: undefined, runner, seen: [] }
  const pane = paneOf(agent, live, look)
  const at = nowOf(parts)
  const process = processEvidence(live, look, pane, runner, at)
  const isAlive = process.status === 'running'
  const registry = runner && isAlive ? registeredOf(runner, live, parts.environment) : undefined
  const title = pane && isAlive ? runner?.readTitle(pane.title) : undefined
  const seen = [process, ...(registry ? [registry.evidence] : []), ...(title ? [{ ...title, at }] : [])]
  return { agent, run, live, runner, ...(pane ? { pane } : {}), process, registry, seen }
}

/** A pane that was made by a process that was killed before it could say so. */
function adopted(agent: Agent, run: AgentRun | undefined, look: Look | undefined): LiveRun | undefined {
  const { launching } = run ?? {}
  if (!launching || look?.kind !== 'panes') return undefined
  const pane = [...look.panes.values()].find((one) => one.agent === agent.id && one.session === launching.tmux_session)
  return pane && { ...launching, pane: pane.pane, pid: pane.pid }
}

/** Ours only when it carries our mark: after a restart of tmux the same number may be another agent's. */
function paneOf(agent: Agent, live: LiveRun, look: Look): PaneInfo | undefined {
  const pane = look.kind === 'panes' ? look.panes.get(live.pane) : undefined
  return pane?.agent === agent.id ? pane : undefined
}

function processEvidence(
  live: LiveRun,
  look: Look,
  pane: PaneInfo | undefined,
  runner: ToolRunner | undefined,
  at: Instant,
): Evidence {
  const base = { source: 'process', at } as const
  if (look.kind === 'silent') return { ...base, status: 'unknown', reason: look.reason }
  if (look.kind === 'gone') {
    const isLeft =
      lifeOf({ pid: live.pid, ...(live.process_start ? { starttime: live.process_start } : {}) }) === 'alive'
    const reason = `the tmux server is gone${isLeft ? `; process ${live.pid} is left without a terminal` : ''}`
    return { ...base, status: 'error', trouble: 'tmux-gone', reason }
  }
  if (!pane) return { ...base, status: 'error', trouble: 'dead-pane', reason: 'its pane is gone' }
  if (pane.isDead) return deadEvidence(pane, at)
  if (SHELLS.has(pane.command) && runner && isProgramGone(live, runner)) {
    const reason = 'the program has ended and left a shell in its pane'
    return { ...base, status: 'error', trouble: 'exited', reason }
  }
  return { ...base, status: 'running', reason: `process ${pane.pid} runs` }
}

function deadEvidence({ exitStatus, exitSignal }: PaneInfo, at: Instant): Evidence {
  const base = { source: 'process', at } as const
  if (exitSignal !== undefined) {
    return { ...base, status: 'error', trouble: 'dead-pane', reason: `killed by signal ${exitSignal}` }
  }
  if (exitStatus === 0) return { ...base, status: 'stopped', reason: 'exited 0' }
  return { ...base, status: 'error', trouble: 'dead-pane', reason: `exited ${exitStatus ?? 'without a status'}` }
}

/** A shell is in the foreground: the agent's own command, or what is left when the program has ended. */
function isProgramGone(live: LiveRun, runner: ToolRunner): boolean {
  const names = processNames(live.pid)
  if (names.length === 0 || names.some((name) => runner.isProcess(name))) return false
  return live.program_pid !== undefined && isWithinTree(live.program_pid, live.pid) !== true
}

/** Only of those that do not say by themselves what they do. */
async function readScreens(parts: Parts, glances: readonly Glance[]): Promise<Map<AgentId, string>> {
  const wanted = glances.filter(
    ({ live, pane, process, registry }) =>
      live && pane && process?.status === 'running' && !(registry && activityOf(registry.evidence)),
  )
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

function withReading(parts: Parts, one: Glance, screens: ReadonlyMap<AgentId, string>): Glance {
  const screen = screens.get(one.agent.id)
  if (screen === undefined || !one.pane || !one.runner) return one
  const { title, width } = one.pane
  const reading = one.runner.readScreen({ lines: screen.split('\n'), title, width })
  return { ...one, reading, seen: [...one.seen, paneEvidence(reading, nowOf(parts))] }
}

export function paneEvidence(reading: ScreenReading, at: Instant): Evidence {
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

// --- storing ----------------------------------------------------------------------------------------------------------

async function store(parts: Parts, agents: ReadonlyMap<AgentId, Agent>, one: Glance): Promise<Observed> {
  const { agent, run, live, pane, reading, seen } = one
  const shown = { agent, seen, ...(pane ? { pane } : {}), ...(reading ? { reading } : {}) }
  if (!run || !live) return { ...shown, run, verdict: run && decideStatus(sightingOf(parts, run, undefined, [])) }
  const first = decideStatus(sightingOf(parts, run, live, seen))
  if (!isNews(one, run, live, first)) return { ...shown, run, verdict: first }
  const stored = await parts.runs.update(agent, async (current) => {
    const now = current && (liveRun(current) ?? (current.launching?.id === live.id ? live : undefined))
    // Restarted or stopped by another process since it was looked at: then this says nothing about it.
    if (!current || now?.id !== live.id) return undefined
    const { next, events } = await withNews(parts, agents, one, { ...current, run: now })
    const verdict = decideStatus(sightingOf(parts, next, liveRun(next) ?? now, seen))
    const ended = await ending(parts, agent, next, now, verdict, one)
    const judged = withVerdict(next, verdict, seen)
    const changed = ended ? { ...judged, run: { ...now, ended_at: ended.at } } : judged
    return {
      next: changed,
      events: [...events, ...(ended?.events ?? []), ...statusEvents(agent, current.status, verdict, current, seen)],
      isDurable: ended !== undefined || events.length > 0,
      result: { run: changed, verdict },
    }
  })
  const result = stored ?? { run, verdict: first }
  if (stored && pane && !first.isPassing) await publish(parts, live, result.verdict.status)
  return { ...shown, ...result }
}

export function sightingOf(
  parts: Parts,
  run: AgentRun,
  live: LiveRun | undefined,
  seen: readonly Evidence[],
): Sighting {
  return {
    agent: run.agent,
    now: nowOf(parts),
    ...(live ? { run: { started_at: live.started_at } } : {}),
    previous: run.status,
    told: run.told ?? [],
    seen,
    sample: run.sample,
    background: run.background,
    progress_at: progressOf(run),
    busy_at: run.busy_at,
    finished_at: run.finished_at,
    acked_at: run.acked_at,
    snoozed_at: run.snoozed_at,
    snoozed_until: run.snoozed_until,
  }
}

/** When the conversation's log last grew. */
function progressOf({ binding }: AgentRun): Instant | undefined {
  const stat = binding?.log ? statSync(binding.log, { throwIfNoEntry: false }) : undefined
  return stat && instantOf(stat.mtimeMs)
}

function isNews(one: Glance, run: AgentRun, live: LiveRun, verdict: Verdict): boolean {
  if (verdict.isPassing) return false
  const isOther = JSON.stringify(verdict.status) !== JSON.stringify(run.status)
  const isTold = verdict.busy_at !== run.busy_at || verdict.finished_at !== run.finished_at
  const isOver = one.process?.status === 'error' || one.process?.status === 'stopped'
  const isAdopted = liveRun(run) === undefined && live !== undefined
  const isMoved = one.registry !== undefined && one.registry.session !== run.binding?.session
  const isUnconfirmed = one.registry !== undefined && !run.binding?.is_confirmed
  return isOther || isTold || isOver || isAdopted || isMoved || isUnconfirmed || isNewSample(run, one.seen)
}

/** A reading is kept when it says something else than the one before, or when that one is older than what it is to be compared with. */
function isNewSample({ sample, told, status }: AgentRun, seen: readonly Evidence[]): boolean {
  const reading = seen.find(({ source }) => source === 'pane')
  if (!reading) return false
  const after = laterOf(told?.at(-1)?.at ?? status.since, status.since)
  return !sample || activityOf(sample) !== activityOf(reading) || sample.at < after
}

/** The registry also says which conversation the program is in. */
async function withNews(
  parts: Parts,
  agents: ReadonlyMap<AgentId, Agent>,
  one: Glance,
  current: AgentRun & { run: LiveRun },
): Promise<{ next: AgentRun; events: Omit<NewEvent, 'agent'>[] }> {
  const { registry, agent } = one
  const { launching: _launching, ...rest } = current
  const adoptedRun = rest as AgentRun & { run: LiveRun }
  if (!registry || (registry.session === current.binding?.session && current.binding.is_confirmed)) {
    return { next: adoptedRun, events: [] }
  }
  const claim = {
    session: registry.session,
    how: 'registry' as const,
    at: registry.evidence.at,
    run: current.run.id,
    pid: registry.pid,
  }
  const other = await holderOf(parts, agent.id, claim.session, agents)
  const known = { ...current.run, program_pid: registry.pid } // the registry is about this very process
  const judged = judge(adoptedRun, known, claim, other)
  return settleIdentity(parts, agent, adoptedRun, current.run, claim, judged)
}

function withVerdict(run: AgentRun, verdict: Verdict, seen: readonly Evidence[]): AgentRun {
  const reading = seen.find(({ source }) => source === 'pane')
  return {
    ...run,
    status: verdict.isPassing ? run.status : verdict.status,
    ...(verdict.busy_at ? { busy_at: verdict.busy_at } : {}),
    ...(verdict.finished_at ? { finished_at: verdict.finished_at } : {}),
    ...(reading && isNewSample(run, seen) ? { sample: reading } : {}),
  }
}

const OUTCOMES: Readonly<Record<string, Outcome>> = { stopped: 'exit', 'tmux-gone': 'lost' }

async function ending(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  live: LiveRun,
  { status }: Verdict,
  { process, pane }: Glance,
): Promise<{ at: Instant; events: Omit<NewEvent, 'agent'>[] } | undefined> {
  if (process?.status !== 'error' && process?.status !== 'stopped') return undefined
  const reason = process.reason ?? 'it ended'
  const outcome = OUTCOMES[process.trouble ?? process.status] ?? 'crash'
  await recordEnd(parts, run.binding?.session, outcome, reason)
  const how = outcome === 'exit' ? 'exited' : outcome === 'lost' ? 'lost' : 'crashed'
  const exit = pane?.exitStatus === undefined ? {} : { exit_status: pane.exitStatus }
  const payload = { agent_id: agent.id, run: live.id, how, reason, ...exit }
  return { at: status.since, events: [{ type: 'agent_stopped', payload }] }
}

/** The change with what it was decided from, the deciding evidence first. */
function statusEvents(
  agent: Agent,
  before: AgentStatus,
  { status, decided, isPassing }: Verdict,
  { told = [] }: AgentRun,
  seen: readonly Evidence[],
): Omit<NewEvent, 'agent'>[] {
  const isSame = status.status === before.status && status.since === before.since && status.trouble === before.trouble
  if (isPassing || isSame) return []
  const others = [...seen, ...told.slice(-3)].filter((evidence) => evidence !== decided)
  const evidence = [...(decided ? [decided] : []), ...others]
  const payload = { agent_id: agent.id, ...status, previous: before.status, evidence }
  return [{ type: 'agent_status', payload }]
}

/** For status lines that draw it without a process of their own. */
async function publish(parts: Parts, live: LiveRun, status: AgentStatus): Promise<void> {
  const { status: state, since, waiting_for = '', reason = '' } = status
  const options = {
    '@skein_state': state,
    '@skein_since': since,
    '@skein_waiting_for': waiting_for,
    '@skein_reason': reason,
  }
  const terminal = await parts.terminals.of(live.socket).catch(() => undefined)
  await terminal?.publish(live.pane, options).catch(() => undefined) // a pane that has just gone shows nothing
}
