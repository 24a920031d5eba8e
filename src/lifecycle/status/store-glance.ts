import { statOf } from '../../disk/index.js'
import type { NewEvent } from '../../home/index.js'
import {
  type Agent,
  type AgentId,
  type AgentStatus,
  type Evidence,
  type Instant,
  instantOf,
  laterOf,
  msOf,
} from '../../model/index.js'
import type { ScreenReading, ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun, type RunEnd } from '../agent-run.js'
import { signOf } from '../care/heartbeat.js'
import { recordRunEnd } from '../care/run-end.js'
import { stuckSince } from '../care/silence.js'
import { nowOf, type Parts } from '../parts.js'
import { withoutOldAsk } from '../run/asked-end.js'
import { closeEndedPane } from '../run/ended-pane.js'
import { recordAdopted } from '../run/started-events.js'
import { askedNow } from '../talk/asked-now.js'
import { decideStatus, type Sighting, type Verdict } from './decide-status.js'
import { activityOf } from './evidence.js'
import { holderOf, judge, settleIdentity } from './intake.js'
import { loggedEnd } from './logged-turn.js'
import type { Glance, Observed } from './observe.js'
import { lastTurn, turnEndOf, unseenReply } from './turn-end.js'

/** Decides what an agent does from what was just seen, and stores what has changed, with the evidence. */
export async function storeGlance(parts: Parts, agents: ReadonlyMap<AgentId, Agent>, one: Glance): Promise<Observed> {
  const { agent, live, pane, reading, seen } = one
  const run = one.run && live ? withReplySeen(parts, one.run, live, reading) : one.run
  const isOver = one.isOver === true
  const shown = { agent, seen, isOver, ...(pane ? { pane } : {}), ...(reading ? { reading } : {}) }
  if (run && !live) await closeUnkeptPane(parts, agent, run)
  if (!run || !live) return { ...shown, run, verdict: run && decideStatus(sightingOf(parts, run, undefined, [])) }
  const sighting = (of: AgentRun, by: LiveRun): Sighting => sightingOf(parts, of, by, seen, one.runner)
  const quick = decideStatus(sighting(run, live))
  const logged = quick.asksLog ? await loggedEnd(parts, run) : undefined
  const decided = logged ? decideStatus({ ...sighting(run, live), logged }) : quick
  const { run: looked, verdict: first } = await askedNow(parts, run, live, decided, reading)
  if (!isNews(one, one.run ?? run, looked, live, first)) return { ...shown, run, verdict: first }
  const stored = await parts.runs.update(agent, async (current) => {
    const own = current && (liveRun(current) ?? (current.launching?.id === live.id ? live : undefined))
    // Restarted or stopped by another process since it was looked at: then this says nothing about it.
    if (!current || own?.id !== live.id || own.pid !== live.pid) return undefined
    const now = withoutOldAsk(own, parts.context.clock.now())
    const known = withReplySeen(parts, current, now, reading)
    const adopted = liveRun(current) ? [] : await recordAdopted(parts, agent, { ...known, run: now })
    const { next, events } = await withNews(parts, agents, one, { ...known, run: now })
    const again = decideStatus({ ...sighting(next, liveRun(next) ?? now), logged })
    const { run: asking, verdict: judgement } = await askedNow(parts, next, now, again, reading)
    const { process } = one
    const ended = process && isOver ? await recordRunEnd(parts, agent, asking, now, { process, pane }) : undefined
    const verdict = ended ? asAsked(judgement, now, ended.end, asking) : judgement
    const judged = withVerdict(asking, verdict, seen)
    const changed = ended ? { ...judged, run: endedRun(now, verdict.status.since, ended.end) } : judged
    return {
      next: changed,
      events: [
        ...adopted,
        ...events,
        ...(ended?.events ?? []),
        ...statusEvents(agent, current.status, verdict, current, seen),
      ],
      isDurable: ended !== undefined || events.length > 0 || adopted.length > 0,
      result: { run: changed, verdict },
    }
  })
  const result = stored ?? (isOver ? await endKnown(parts, live, { run, verdict: first }) : { run, verdict: first })
  if (stored && pane && !first.isPassing) await publish(parts, live, result.verdict.status)
  return { ...shown, ...result }
}

/** Another process has recorded the same end, and knows more about it: whoever asked for it says why. */
async function endKnown<T extends { run: AgentRun; verdict: Verdict }>({ runs }: Parts, live: LiveRun, seen: T) {
  const now = await runs.read(seen.run.agent)
  const isSame = now?.run?.id === live.id && now.run.ended_at !== undefined
  return isSame ? { run: now, verdict: { ...seen.verdict, status: now.status } } : seen
}

/** An end that was asked for is shown as that, not as the failure or the exit that the process shows. */
function asAsked(verdict: Verdict, { asked }: LiveRun, { reason }: RunEnd, run: AgentRun): Verdict {
  if (!asked || asked.how === 'crashed') return verdict
  const { since, source } = verdict.status
  const unseen = asked.is_asleep ? unseenReply(run) : {}
  return { ...verdict, status: { status: asked.is_asleep ? 'asleep' : 'stopped', since, source, reason, ...unseen } }
}

function endedRun(run: LiveRun, ended_at: Instant, end: RunEnd): LiveRun {
  const { is_down, is_asleep } = run.asked ?? {}
  return { ...run, ended_at, end, ...(is_down ? { is_down } : {}), ...(is_asleep ? { is_asleep } : {}) }
}

/** A screen may still show what was there when the turn ended. */
const NEW_AFTER_MS = 2_000

/**
 * A user who has begun another conversation in the program has seen the end of the last turn. Some programs name the new one
 * only with its first prompt. A program that was started since shows an empty conversation before the one it resumes.
 */
function withReplySeen(parts: Parts, run: AgentRun, live: LiveRun, reading: ScreenReading | undefined): AgentRun {
  if (!reading?.isNew) return run
  const { told = [], busy_at } = run
  const { end, isOpen } = lastTurn({ told, busy_at, turn_end: turnEndOf(run), run: live })
  if (!end || isOpen || end.at < live.started_at || end.at <= (run.acked_at ?? '')) return run
  const now = parts.context.clock.now()
  return now - msOf(end.at) < NEW_AFTER_MS ? run : { ...run, acked_at: instantOf(now) }
}

function sightingOf(
  parts: Parts,
  run: AgentRun,
  live: LiveRun | undefined,
  seen: readonly Evidence[],
  runner?: ToolRunner,
): Sighting {
  return {
    agent: run.agent,
    now: nowOf(parts),
    ...(live ? { run: { started_at: live.started_at, isResumed: live.how !== 'new' } } : {}),
    tells: runner?.can.tells ?? false,
    isEndTold: runner?.isEndTold ?? false,
    previous: run.status,
    told: run.told ?? [],
    seen,
    sample: run.sample,
    background: run.background,
    progress_at: progressOf(run),
    busy_at: run.busy_at,
    sent_at: run.sent_at,
    turn_end: turnEndOf(run),
    quiet_at: run.quiet_at,
    acked_at: run.acked_at,
    snoozed_at: run.snoozed_at,
    snoozed_until: run.snoozed_until,
    stuck_since: live && run.silence?.stuck_at ? stuckSince(run, live, signOf(parts, run)) : undefined,
  }
}

/** When the conversation's log last grew. */
function progressOf({ binding }: AgentRun): Instant | undefined {
  const stat = binding?.log ? statOf(binding.log) : undefined
  return stat && instantOf(stat.mtimeMs)
}

function isNews(one: Glance, run: AgentRun, looked: AgentRun, live: LiveRun, verdict: Verdict): boolean {
  if (verdict.isPassing) return false
  const isOther =
    JSON.stringify([verdict.status, looked.requests, looked.dialog]) !==
    JSON.stringify([run.status, run.requests, run.dialog])
  const isTold =
    verdict.busy_at !== run.busy_at ||
    verdict.quiet_at !== run.quiet_at ||
    JSON.stringify(verdict.turn_end) !== JSON.stringify(turnEndOf(run))
  const isAdopted = liveRun(run) === undefined && live !== undefined
  const isMoved = one.registry !== undefined && one.registry.session !== run.binding?.session
  const isUnconfirmed = one.registry !== undefined && !run.binding?.is_confirmed
  return isOther || isTold || one.isOver === true || isAdopted || isMoved || isUnconfirmed || isNewSample(run, one.seen)
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
  const { leaving, binding } = current
  const claim = {
    session: registry.session,
    // The registry may be read before the hook that names the new conversation; the one that left the old one came before both.
    how: leaving && binding && leaving.at > binding.since ? leaving.how : ('registry' as const),
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
  const { quiet_at: _quiet, finished_at: _finished, ...kept } = run
  const before = turnEndOf(run)
  return {
    ...kept,
    status: verdict.isPassing ? run.status : verdict.status,
    ...(verdict.busy_at ? { busy_at: verdict.busy_at } : {}),
    ...(before ? { turn_end: before } : {}),
    ...(verdict.turn_end ? { turn_end: verdict.turn_end } : {}),
    ...(verdict.quiet_at ? { quiet_at: verdict.quiet_at } : {}),
    ...(reading && isNewSample(run, seen) ? { sample: reading } : {}),
  }
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
  // One question after another is news, even where nobody saw it go on in between.
  if (isPassing || (isSame && status.token === before.token)) return []
  const others = [...seen, ...told.slice(-3)].filter((evidence) => evidence !== decided)
  const evidence = [...(decided ? [decided] : []), ...others]
  const payload = { agent_id: agent.id, ...status, previous: before.status, evidence }
  return [{ type: 'agent_status', payload }]
}

/** Whoever saw it end may still be reading its last lines. */
const PANE_KEPT_MS = 2_000

/** Its role keeps no pane of a program that has ended. Until its end was recorded it was there, with the exit status. */
async function closeUnkeptPane(parts: Parts, agent: Agent, { start, run }: AgentRun): Promise<void> {
  if (!start?.closes_pane || !run?.ended_at) return
  if (parts.context.clock.now() - msOf(run.ended_at) < PANE_KEPT_MS) return
  await closeEndedPane(parts, agent, run)
  await parts.runs.update(agent, (current) => {
    if (current?.run?.id !== run.id || !current.start) return undefined
    const { closes_pane: _closes, ...rest } = current.start
    return { next: { ...current, start: rest }, isDurable: false, result: undefined }
  })
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
