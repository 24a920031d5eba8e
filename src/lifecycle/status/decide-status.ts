// Just over 400 lines: the one place that decides a status, read from top to bottom.
import {
  type AgentId,
  type AgentStatus,
  type Evidence,
  formatDuration,
  INTERRUPTED,
  type Instant,
  instantOf,
  laterOf,
  msOf,
  type Trouble,
  type TurnEnd,
  type Wait,
} from '../../model/index.js'
import { type Activity, ANSWERED, ANSWERED_REASON, activityOf, isTold, UNREACHABLE } from './evidence.js'
import { lastTurn, latestOf } from './turn-end.js'

/** So long a program may take until anything is expected of it. */
export const START_GRACE_MS = 5_000
/** What was told is taken to hold for so long before a look at the screen may contradict it: hooks and screens are not in step. */
const SETTLE_MS = 2_000
/** Two readings of a screen count as two only when they are this far apart. */
const APART_MS = 500
/** A program that was given a prompt may say so this long before its registry does: hooks of its user come in between. */
const PROMPT_HOLDS_MS = 30_000
/** A program without reports has so long to show that it works on what was sent. */
const SENT_MS = 2_000
/** A program that tells how a turn ended is waited for this long once it looks as if it had. */
const UNTOLD_MS = 1_500
/** One that tells every end is waited for longer: on a slow machine its screen is behind its words. */
const LATE_END_MS = 30_000
/** What was told holds for so long without a tmux that could contradict it. */
const FRESH_MS = 10_000
/** Work in the background whose end was missed is forgotten after this. */
const BACKGROUND_MS = 3_600_000
/** A turn that has written nothing for so long is said to be stalled. */
const STALLED_MS = 600_000

const RECEIVED = 'it received a prompt'

/** All that is known about an agent at one moment. */
export interface Sighting {
  agent: AgentId
  now: Instant
  /** Absent when no program of this agent runs. `isResumed`: its screen may show what came before it. */
  run?: { started_at: Instant; isResumed?: boolean }
  /** Whether the program tells how its turns end; else their end is concluded from the end of work. */
  tells?: boolean
  /** It tells every end: what looks like one before that is believed late. */
  isEndTold?: boolean
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
  /** Since when it last was at work on a turn. */
  busy_at?: Instant | undefined
  /** When a prompt was last typed into a program that reports none. */
  sent_at?: Instant | undefined
  /** How its last turn ended, as it was decided before. */
  turn_end?: TurnEnd | undefined
  /** Since when a turn whose end was not told looks ended. */
  quiet_at?: Instant | undefined
  /** How the turn ended as the log has it; asked for by `Verdict.asksLog`. */
  logged?: TurnEnd | undefined
  acked_at?: Instant | undefined
  snoozed_at?: Instant | undefined
  snoozed_until?: Instant | undefined
  /** It has work on its hook, and has given no sign of life since then, although it was nudged. */
  stuck_since?: Instant | undefined
}

export interface Verdict {
  status: AgentStatus
  /** What decided it. */
  decided?: Evidence
  busy_at?: Instant
  turn_end?: TurnEnd
  quiet_at?: Instant
  /** A turn has ended without a word about how: its log may know. */
  asksLog?: true
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
 * 5. When nobody knows, that is what it says: also when tmux does not answer, except for what was told just now.
 */
export function decideStatus(sighting: Sighting): Verdict {
  const { previous, now, run, seen } = sighting
  const process = seen.find(({ source }) => source === 'process')
  if (!run) return settled(sighting, overOf(sighting, process))
  const ending = process && activityOf(process)
  if (process && (ending === 'failed' || ending === 'over')) return settled(sighting, process)
  if (process?.rule === UNREACHABLE) return passing(previous, process)
  const isSilent = process?.status === 'unknown'
  const best = isSilent && !isFresh(sighting) ? undefined : bestOf(sighting)
  if (best) return settled(sighting, withBackground(best, sighting))
  if (isYoung(sighting, run)) return settled(sighting, { source: 'process', at: run.started_at, status: 'starting' })
  if (isSilent) return passing(previous, process)
  const pane = seen.find(({ source }) => source === 'pane')
  // A view of the program that a rule knows, and that hides what it does: that still holds.
  if (pane?.rule && activityOf(previous)) return { status: previous, decided: pane, isPassing: true }
  const reason = pane?.reason ?? 'no rule matches this screen'
  return settled(sighting, { source: 'pane', at: now, status: 'unknown', reason })
}

/** Names one wait of one agent: an answer to another wait, or another agent, does not carry it. */
export function waitToken(agent: AgentId, since: Instant, wait: Wait): string {
  return `${wait}-${msOf(since).toString(36)}-${agent.slice(0, 8)}`
}

/** Nothing is known of an agent but this. */
export const unknownBy = (evidence: Evidence): Verdict => ({
  status: {
    status: 'unknown',
    since: evidence.at,
    source: evidence.source,
    ...(evidence.reason === undefined ? {} : { reason: evidence.reason }),
  },
  decided: evidence,
  isPassing: true,
})

// --- who is believed --------------------------------------------------------------------------------------------------

function bestOf(sighting: Sighting): Evidence | undefined {
  const registry = known(sighting, 'registry')
  const told = lastTold(sighting)
  if (registry && registry.status !== 'starting') {
    return isAhead(sighting, told, registry) ? told : refined(registry, told, known(sighting, 'pane'))
  }
  const looked = lookedAt(sighting)
  if (!told) return looked && staysRunning(sighting, looked) ? stillRunning(sighting) : looked
  if (!looked || !contradicts(sighting, told, looked)) return refined(told, undefined, known(sighting, 'pane'))
  return looked
}

const known = ({ seen }: Sighting, source: Evidence['source']): Evidence | undefined =>
  seen.find((evidence) => evidence.source === source && activityOf(evidence) !== undefined)

/** The program was given a prompt, and its registry does not have it yet. */
function isAhead(sighting: Sighting, told: Evidence | undefined, registry: Evidence): told is Evidence {
  if (!told || activityOf(told) !== 'running' || activityOf(registry) !== 'quiet') return false
  const said = saidLast(sighting)
  return said > registry.at && msOf(sighting.now) - msOf(said) < PROMPT_HOLDS_MS
}

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

/** The tellings at the end that all say the same, oldest first. A turn whose end nobody told does not reach into the next one. */
function lastStreak({ told, run, turn_end }: Sighting): Evidence[] {
  const ours = told.filter((evidence) => evidence.at >= (run?.started_at ?? evidence.at) && activityOf(evidence))
  const last = ours.at(-1)
  const isNextTurn = turn_end !== undefined && last !== undefined && last.at > turn_end.at
  const mine = isNextTurn ? ours.filter(({ at }) => at > turn_end.at) : ours
  const before = mine.findLastIndex((evidence) => last && activityOf(evidence) !== activityOf(last))
  return mine.slice(before + 1)
}

/** When the program last said anything: until then a look at the screen proves nothing against it. */
const saidLast = (sighting: Sighting): Instant => lastStreak(sighting).at(-1)?.at ?? instantOf(0)

/** While tmux does not answer, only what the program itself has just said is known. */
const isFresh = (sighting: Sighting): boolean => msOf(sighting.now) - msOf(saidLast(sighting)) < FRESH_MS

function contradicts(sighting: Sighting, told: Evidence, looked: Evidence): boolean {
  const [said, shown] = [activityOf(told), activityOf(looked)]
  if (said === shown || shown === 'starting') return false
  if (said === 'failed' && shown === 'quiet') return false // the prompt below an error message
  // Its end is waited for anyway.
  if (sighting.tells && said === 'running' && shown === 'quiet' && looked.source === 'title') return true
  if (msOf(looked.at) - msOf(saidLast(sighting)) < SETTLE_MS) return false
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
  const turn = turnBy(sighting, evidence, activity)
  if (turn.isUntold) return untold(sighting, evidence, turn)
  const isOver = activity === 'quiet' || (activity === 'failed' && evidence.source !== 'process')
  const plain = isOver ? overFacts(sighting, turn.end) : factsOf(evidence, sighting, activity)
  const facts = isOver || activity === 'running' ? withStuck(plain, sighting) : plain
  const since = isSame(facts, evidence, previous) ? previous.since : earlierOf(facts.since ?? evidence.at, now)
  const isTurn = activity === 'running' && evidence.turn !== 'none' && (!sighting.tells || isTold(evidence.source))
  const busy_at = isTurn ? since : sighting.busy_at
  const token = facts.waiting_for && waitToken(sighting.agent, since, facts.waiting_for)
  return {
    status: { ...facts, since, source: evidence.source, ...(token ? { token } : {}) },
    decided: evidence,
    ...(busy_at === undefined ? {} : { busy_at }),
    ...(turn.end ? { turn_end: turn.end } : {}),
    ...(turn.asksLog ? { asksLog: true } : {}),
    isPassing: false,
  }
}

// --- how the turn ended -----------------------------------------------------------------------------------------------

interface Ended {
  end?: TurnEnd | undefined
  /** It looks ended, and its program may still say how. */
  isUntold?: boolean
  asksLog?: boolean
}

/** How the last turn ended, by what was told, or else by what is seen now. */
function turnBy(sighting: Sighting, evidence: Evidence, activity: Activity | undefined): Ended {
  const { now, tells, logged } = sighting
  const { begun_at, end, isOpen } = lastTurn(sighting)
  if (activity === 'failed' && evidence.source !== 'process') return { end: failureOf(sighting, evidence, end, isOpen) }
  if (activity !== 'quiet' || !isOpen || begun_at === undefined) return { end }
  const at = earlierOf(laterOf(evidence.at, begun_at), now)
  // Right after a prompt it may not have shown yet that it works.
  if (!tells && begun_at === sighting.sent_at && msOf(now) - msOf(begun_at) < SENT_MS) return { end }
  if (!tells) return { end: { at, how: 'finished' } }
  const pane = known(sighting, 'pane')
  if (pane && activityOf(pane) === 'failed') return { end: failureOf(sighting, pane, end, isOpen) }
  const quiet = quietSince(sighting, begun_at)
  const isLate = sighting.isEndTold && !isTold(evidence.source) && !wasAsking(sighting)
  const patience = isLate ? LATE_END_MS : UNTOLD_MS
  if (msOf(now) - msOf(quiet) < patience) return { end, isUntold: true }
  // Looked at, it is as old as the look; only a registry knows when.
  const seenAt = evidence.source === 'registry' ? at : quiet
  return { end: logged ?? { at: seenAt, how: 'interrupted' }, asksLog: logged === undefined }
}

/** The last thing it told is a question. A turn that was ended by the answer to one (no, Escape) is told by no program. */
const wasAsking = (sighting: Sighting): boolean => {
  const last = lastStreak(sighting).at(-1)
  return last !== undefined && (activityOf(last) === 'blocked' || last.rule === ANSWERED)
}

const quietSince = ({ quiet_at, now }: Sighting, begun: Instant): Instant =>
  quiet_at !== undefined && quiet_at >= begun ? quiet_at : now

/** A failure on the screen may be that of a turn long over, or of a conversation that was taken up again. */
function failureOf(
  sighting: Sighting,
  { at, reason, trouble, source }: Evidence,
  end: TurnEnd | undefined,
  isOpen: boolean,
): TurnEnd | undefined {
  if (isTold(source) || (!isOpen && end?.how === 'failed')) return end
  const isOld = sighting.tells && !isOpen && (end !== undefined || sighting.run?.isResumed)
  if (isOld) return end
  const seenAt = earlierOf(at, sighting.now)
  return { at: seenAt, how: 'failed', ...(reason === undefined ? {} : { reason }), ...(trouble ? { trouble } : {}) }
}

/** Still at work as far as anyone said, until its program has had the time to say more. */
function untold(sighting: Sighting, evidence: Evidence, { end }: Ended): Verdict {
  const { previous, now, busy_at } = sighting
  const { begun_at = now } = lastTurn(sighting)
  const status: AgentStatus =
    activityOf(previous) === 'running'
      ? previous
      : { status: 'running', since: begun_at, source: 'hook', reason: wasAsking(sighting) ? ANSWERED_REASON : RECEIVED }
  const busy = latestOf(busy_at, begun_at)
  return {
    status,
    decided: evidence,
    ...(busy ? { busy_at: busy } : {}),
    ...(end ? { turn_end: end } : {}),
    quiet_at: quietSince(sighting, begun_at),
    isPassing: false,
  }
}

/** Whether this goes on what was so before. A question that its own source dates later is another question. */
function isSame(facts: Facts, evidence: Evidence, previous: AgentStatus): boolean {
  if (facts.status !== previous.status || facts.waiting_for !== previous.waiting_for) return false
  if (lasting(facts.trouble) !== lasting(previous.trouble)) return false
  if (facts.since !== undefined) return facts.since === previous.since
  const isNewer = evidence.source === previous.source && evidence.source !== 'pane' && evidence.at > previous.since
  return facts.waiting_for === undefined || !isNewer
}

const lasting = (trouble: Trouble | undefined): Trouble | undefined =>
  trouble === 'stalled' || trouble === 'stuck' ? undefined : trouble

type Facts = Omit<AgentStatus, 'since' | 'source' | 'token'> & { since?: Instant }

function factsOf({ status, reason, waiting_for, trouble }: Evidence, sighting: Sighting, activity?: Activity): Facts {
  const stalledMs = activity === 'running' ? stalledFor(sighting) : undefined
  if (stalledMs !== undefined)
    return { status, trouble: 'stalled', reason: `no progress for ${formatDuration(stalledMs)}` }
  const wait = activity === 'blocked' ? (waiting_for ?? 'permission') : status === 'asleep' ? waiting_for : undefined
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(wait ? { waiting_for: wait } : {}),
    ...(trouble ? { trouble } : {}),
  }
}

/** Whatever else it does: nothing has come from it for long, and its work is not done. A failure says more than that. */
function withStuck(facts: Facts, { stuck_since }: Sighting): Facts {
  if (stuck_since === undefined || facts.status === 'error') return facts
  return { ...facts, trouble: 'stuck', reason: `no heartbeat since ${stuck_since}` }
}

/** No turn goes on: what its user is to know of the last one. */
function overFacts({ acked_at, snoozed_at, snoozed_until, now }: Sighting, end: TurnEnd | undefined): Facts {
  if (!end) return { status: 'idle' }
  const { at: since, how, reason, trouble } = end
  if (how === 'interrupted') return { status: 'idle', reason: reason ?? INTERRUPTED, since }
  const isSeen = since <= (acked_at ?? instantOf(0))
  if (how === 'failed') {
    const why = reason === undefined ? {} : { reason: isSeen ? `seen: ${reason}` : reason }
    return { status: isSeen ? 'idle' : 'error', ...why, ...(trouble && !isSeen ? { trouble } : {}), since }
  }
  if (isSeen) return { status: 'idle' }
  const isSnoozed = snoozed_until !== undefined && snoozed_until > now && since <= (snoozed_at ?? since)
  if (isSnoozed) return { status: 'idle', reason: `snoozed until ${snoozed_until}` }
  return { status: 'waiting', waiting_for: 'finished', reason: 'finished', since }
}

/** No program runs: what ended it stays said. */
function overOf(sighting: Sighting, process: Evidence | undefined): Evidence {
  if (process) return process
  const { previous, acked_at, turn_end } = sighting
  const { since, source, reason, trouble } = previous
  const isSeen = previous.status === 'error' && acked_at !== undefined && acked_at >= since
  const status = isSeen ? 'stopped' : previous.status
  const isOver = ['stopped', 'asleep', 'error'].includes(status)
  // One that sleeps has a reply that nobody has seen all the same.
  const { waiting_for } = status === 'asleep' ? overFacts(sighting, turn_end) : {}
  return {
    source,
    at: since,
    ...(waiting_for ? { waiting_for } : {}),
    status: isOver ? status : 'stopped',
    ...(reason === undefined || !isOver ? {} : { reason }),
    ...(trouble && isOver && !isSeen ? { trouble } : {}),
  }
}

function passing(previous: AgentStatus, evidence: Evidence): Verdict {
  const reason = `${evidence.reason ?? 'no source reports a status'}; it was ${previous.status}`
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

/** From when it first drew something, where that was seen. */
function isYoung({ now, sample, previous }: Sighting, run: { started_at: Instant }): boolean {
  const isDrawn = previous.status === 'starting' && sample?.status === 'unknown' && sample.at > run.started_at
  return msOf(now) - msOf(isDrawn ? sample.at : run.started_at) < START_GRACE_MS
}

const earlierOf = (a: Instant, b: Instant): Instant => (a < b ? a : b)
