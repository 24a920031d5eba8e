import {
  type AgentId,
  type AgentStatus,
  type Evidence,
  formatDuration,
  type Instant,
  instantOf,
  laterOf,
  msOf,
  type Trouble,
  type Wait,
} from '../model/index.js'
import { type Activity, activityOf, UNREACHABLE } from './evidence.js'

/** So long a program may take until anything is expected of it. */
export const START_GRACE_MS = 5_000
/** What was told is taken to hold for so long before a look at the screen may contradict it: hooks and screens are not in step. */
const SETTLE_MS = 2_000
/** Two readings of a screen count as two only when they are this far apart. */
const APART_MS = 500
/** A program may tell of the end of a turn this long after it could be seen. */
const LATE_MS = 10_000
/** Work in the background whose end was missed is forgotten after this. */
const BACKGROUND_MS = 3_600_000
/** A turn that has written nothing for so long is said to be stalled. */
const STALLED_MS = 600_000

/** All that is known about an agent at one moment. */
export interface Sighting {
  agent: AgentId
  now: Instant
  /** Absent when no program of this agent runs. */
  run?: { started_at: Instant }
  previous: AgentStatus
  /** What the program or others told, oldest first (`mergeTold`). */
  told: readonly Evidence[]
  /** What was looked at just now: registry, title, pane, process. */
  seen: readonly Evidence[]
  /** The reading of the screen before this one. */
  sample?: Evidence | undefined
  background?: { count: number; at: Instant } | undefined
  /** When the agent's log last grew, where that is known. */
  progress_at?: Instant | undefined
  /** Since when it last was at work: a reply is finished when it no longer is. */
  busy_at?: Instant | undefined
  finished_at?: Instant | undefined
  acked_at?: Instant | undefined
  snoozed_at?: Instant | undefined
  snoozed_until?: Instant | undefined
}

export interface Verdict {
  status: AgentStatus
  /** What decided it. */
  decided?: Evidence
  busy_at?: Instant
  finished_at?: Instant
  /** Nothing is known at this moment: to be shown, and not to be kept as a change. */
  isPassing: boolean
}

/**
 * What an agent is doing, from everything that is known. Pure: the same knowledge gives the same answer, whichever way it
 * came, and looking changes nothing.
 *
 * 1. A program that is gone is gone, whatever it said last.
 * 2. The program's own registry is exact.
 * 3. What was told holds until something newer contradicts it: a hook can be missed (a prompt that was left with Escape
 *    sends none), and the screen heals that.
 * 4. The screen alone must say twice that work has ended.
 * 5. When nobody knows, that is what it says.
 */
export function decideStatus(sighting: Sighting): Verdict {
  const { previous, now, run, seen } = sighting
  const process = seen.find(({ source }) => source === 'process')
  if (!run) return settled(sighting, overOf(previous, process))
  const ending = process && activityOf(process)
  if (process && (ending === 'failed' || ending === 'over')) return settled(sighting, process)
  if (process?.rule === UNREACHABLE) return passing(previous, process)
  const best = bestOf(sighting)
  if (best) return settled(sighting, withBackground(best, sighting))
  if (isYoung(run, now)) return settled(sighting, { source: 'process', at: run.started_at, status: 'starting' })
  if (process?.status === 'unknown') return passing(previous, process)
  const pane = seen.find(({ source }) => source === 'pane')
  // A view of the program that a rule knows, and that hides what it does: that still holds.
  if (pane?.rule && activityOf(previous)) return { status: previous, decided: pane, isPassing: true }
  const reason = pane?.reason ?? 'no rule knows this screen'
  return settled(sighting, { source: 'pane', at: now, status: 'unknown', reason })
}

/** Names one wait of one agent: an answer to another wait, or another agent, does not carry it. */
export function waitToken(agent: AgentId, since: Instant, wait: Wait): string {
  return `${wait}-${msOf(since).toString(36)}-${agent.slice(0, 8)}`
}

// --- who is believed --------------------------------------------------------------------------------------------------

function bestOf(sighting: Sighting): Evidence | undefined {
  const registry = known(sighting, 'registry')
  const told = lastTold(sighting)
  if (registry && registry.status !== 'starting') return refined(registry, told, known(sighting, 'pane'))
  const looked = lookedAt(sighting)
  if (!told) return looked && staysRunning(sighting, looked) ? stillRunning(sighting) : looked
  if (!looked || !contradicts(sighting, told, looked)) return refined(told, undefined, known(sighting, 'pane'))
  return looked
}

const known = ({ seen }: Sighting, source: Evidence['source']): Evidence | undefined =>
  seen.find((evidence) => evidence.source === source && activityOf(evidence) !== undefined)

/** The title is set by the program and so comes before the screen; but it does not show a question or a failure. */
function lookedAt(sighting: Sighting): Evidence | undefined {
  const title = known(sighting, 'title')
  const pane = known(sighting, 'pane')
  const asksOrFails = pane && ['blocked', 'failed'].includes(activityOf(pane) ?? '')
  return asksOrFails ? pane : (title ?? pane)
}

/**
 * The last telling, dated to when what it says began: a reminder that a question is still open does not make it a new
 * question. Only what this run told counts.
 */
function lastTold(sighting: Sighting): Evidence | undefined {
  const streak = lastStreak(sighting)
  const [first] = streak
  const last = streak.at(-1)
  if (!first || !last) return undefined
  return activityOf(last) === 'blocked' ? first : { ...last, at: first.at }
}

/** The tellings at the end that all say the same, oldest first. */
function lastStreak({ told, run }: Sighting): Evidence[] {
  const mine = told.filter((evidence) => evidence.at >= (run?.started_at ?? evidence.at) && activityOf(evidence))
  const last = mine.at(-1)
  const before = mine.findLastIndex((evidence) => last && activityOf(evidence) !== activityOf(last))
  return mine.slice(before + 1)
}

/** When the program last said anything: until then a look at the screen proves nothing against it. */
const saidLast = (sighting: Sighting): Instant => lastStreak(sighting).at(-1)?.at ?? instantOf(0)

function contradicts(sighting: Sighting, told: Evidence, looked: Evidence): boolean {
  const [said, shown] = [activityOf(told), activityOf(looked)]
  if (said === shown || shown === 'starting') return false
  if (msOf(looked.at) - msOf(saidLast(sighting)) < SETTLE_MS) return false
  if (said === 'failed' && shown === 'quiet') return false // the prompt below an error message
  if (said === 'running' && shown === 'quiet')
    return looked.source !== 'pane' || isSeenTwice(sighting, looked, saidLast(sighting))
  return true
}

/** A question that one source only knows to be there may be known better by another: `over` says it better, `under` fills gaps. */
function refined(best: Evidence, over: Evidence | undefined, under: Evidence | undefined): Evidence {
  if (activityOf(best) !== 'blocked') return best
  const asked = [over, best, under].filter((other) => other !== undefined && activityOf(other) === 'blocked')
  const reason = asked.find((other) => other?.reason !== undefined)?.reason
  const waiting_for = asked.find((other) => other?.waiting_for !== undefined)?.waiting_for
  return { ...best, ...(reason === undefined ? {} : { reason }), ...(waiting_for ? { waiting_for } : {}) }
}

// --- seen twice -------------------------------------------------------------------------------------------------------

function staysRunning(sighting: Sighting, looked: Evidence): boolean {
  const wasRunning =
    sighting.previous.status === 'running' && sighting.previous.since >= (sighting.run?.started_at ?? '')
  if (!wasRunning || looked.source !== 'pane' || activityOf(looked) !== 'quiet') return false
  return !isSeenTwice(sighting, looked, sighting.previous.since)
}

function isSeenTwice({ sample }: Sighting, looked: Evidence, after: Instant): boolean {
  if (!sample || activityOf(sample) !== activityOf(looked) || sample.at < after) return false
  return msOf(looked.at) - msOf(sample.at) >= APART_MS
}

function stillRunning({ previous }: Sighting): Evidence {
  const { since, source, reason } = previous
  return { source, at: since, status: 'running', ...(reason === undefined ? {} : { reason }) }
}

// --- from evidence to a status ----------------------------------------------------------------------------------------

function withBackground(best: Evidence, { background, now }: Sighting): Evidence {
  const isOn = background && background.count > 0 && msOf(now) - msOf(background.at) < BACKGROUND_MS
  if (!isOn || activityOf(best) !== 'quiet') return best
  const { waiting_for, ...rest } = best
  const tasks = background.count === 1 ? 'a background task' : `${background.count} background tasks`
  return { ...rest, status: 'running', reason: `${tasks} of this turn` }
}

function settled(sighting: Sighting, evidence: Evidence): Verdict {
  const { now, previous } = sighting
  const activity = activityOf(evidence)
  const finished_at = activity === 'quiet' ? finishOf(sighting, evidence) : sighting.finished_at
  const facts = activity === 'quiet' ? quietFacts(sighting, finished_at) : factsOf(evidence, sighting, activity)
  const since = isSame(facts, evidence, previous) ? previous.since : earlierOf(facts.since ?? evidence.at, now)
  const busy_at = activity === 'running' ? since : sighting.busy_at
  const token = facts.waiting_for && waitToken(sighting.agent, since, facts.waiting_for)
  return {
    status: { ...facts, since, source: evidence.source, ...(token ? { token } : {}) },
    decided: evidence,
    ...(busy_at === undefined ? {} : { busy_at }),
    ...(finished_at === undefined ? {} : { finished_at }),
    isPassing: false,
  }
}

/** Whether this goes on what was so before. A question that its own source dates later is another question. */
function isSame(facts: Facts, evidence: Evidence, previous: AgentStatus): boolean {
  if (facts.status !== previous.status || facts.waiting_for !== previous.waiting_for) return false
  if (lasting(facts.trouble) !== lasting(previous.trouble)) return false
  if (facts.waiting_for === 'finished') return facts.since === previous.since
  const isNewer = evidence.source === previous.source && evidence.source !== 'pane' && evidence.at > previous.since
  return facts.waiting_for === undefined || !isNewer
}

const lasting = (trouble: Trouble | undefined): Trouble | undefined => (trouble === 'stalled' ? undefined : trouble)

type Facts = Omit<AgentStatus, 'since' | 'source' | 'token'> & { since?: Instant }

function factsOf({ status, reason, waiting_for, trouble }: Evidence, sighting: Sighting, activity?: Activity): Facts {
  const stalledMs = activity === 'running' ? stalledFor(sighting) : undefined
  if (stalledMs !== undefined)
    return { status, trouble: 'stalled', reason: `no progress for ${formatDuration(stalledMs)}` }
  const wait = activity === 'blocked' ? (waiting_for ?? 'permission') : undefined
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(wait ? { waiting_for: wait } : {}),
    ...(trouble ? { trouble } : {}),
  }
}

/** When the reply that now stands there was finished: as it was told, or when it was first seen to be no longer at work. */
function finishOf(sighting: Sighting, evidence: Evidence): Instant | undefined {
  const { finished_at, now } = sighting
  const told = lastStreak(sighting).find(({ waiting_for }) => waiting_for === 'finished')?.at
  const busy = latestOf(sighting.busy_at, lastTimeAtWork(sighting))
  // It was seen to be over before it said so: that is one end, and who has taken note of it need not be told again.
  const isLate = told && finished_at && busy && finished_at >= busy && msOf(told) - msOf(finished_at) < LATE_MS
  const known = isLate ? finished_at : latestOf(told, finished_at)
  if (busy === undefined || (known !== undefined && known >= busy)) return known
  return earlierOf(laterOf(evidence.at, busy), now)
}

/** As it was told: the whole turn may have passed since anyone looked. */
function lastTimeAtWork({ told, run }: Sighting): Instant | undefined {
  return told.findLast(
    (evidence) => activityOf(evidence) === 'running' && evidence.at >= (run?.started_at ?? evidence.at),
  )?.at
}

const latestOf = (a: Instant | undefined, b: Instant | undefined): Instant | undefined =>
  a !== undefined && b !== undefined ? laterOf(a, b) : (a ?? b)

function quietFacts({ acked_at, snoozed_at, snoozed_until, now }: Sighting, finished_at: Instant | undefined): Facts {
  if (finished_at === undefined || finished_at <= (acked_at ?? instantOf(0))) return { status: 'idle' }
  const isSnoozed = snoozed_until !== undefined && snoozed_until > now && finished_at <= (snoozed_at ?? finished_at)
  if (isSnoozed) return { status: 'idle', reason: `snoozed until ${snoozed_until}` }
  return { status: 'waiting', waiting_for: 'finished', reason: 'finished', since: finished_at }
}

/** No program runs: what ended it stays said. */
function overOf(previous: AgentStatus, process: Evidence | undefined): Evidence {
  if (process) return process
  const { status, since, source, reason, trouble } = previous
  const isOver = ['stopped', 'asleep', 'error'].includes(status)
  return {
    source,
    at: since,
    status: isOver ? status : 'stopped',
    ...(reason === undefined || !isOver ? {} : { reason }),
    ...(trouble && isOver ? { trouble } : {}),
  }
}

function passing(previous: AgentStatus, evidence: Evidence): Verdict {
  const reason = `${evidence.reason ?? 'nobody knows at the moment'}; it was ${previous.status}`
  return {
    status: { status: 'unknown', since: previous.since, source: evidence.source, reason },
    decided: evidence,
    isPassing: true,
  }
}

function stalledFor({ progress_at, now, previous }: Sighting): number | undefined {
  if (progress_at === undefined || previous.status !== 'running') return undefined
  const ms = msOf(now) - msOf(laterOf(progress_at, previous.since))
  return ms >= STALLED_MS ? ms : undefined
}

const isYoung = (run: { started_at: Instant }, now: Instant): boolean =>
  msOf(now) - msOf(run.started_at) < START_GRACE_MS

const earlierOf = (a: Instant, b: Instant): Instant => (a < b ? a : b)
