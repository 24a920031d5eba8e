import { type Instant, laterOf, msOf, type Role, type Trouble } from '../../model/index.js'
import type { AgentRun, LiveRun, Silence } from '../agent-run.js'
import type { Activity } from '../status/evidence.js'
import type { Sign } from './heartbeat.js'
import { isHolding } from './hold.js'

/** How long an agent with work may be silent, and whether it is restarted then. */
export interface SilenceRule {
  /** Undefined: it is left alone. */
  afterMs: number | undefined
  respawn: Role['respawn']
}

/** Everything that the decision is made from. */
export interface SilenceSigns {
  now: Instant
  run: Pick<LiveRun, 'id' | 'started_at'>
  /** The unit of work on its hook. */
  work: string | undefined
  activity: Activity | undefined
  trouble: Trouble | undefined
  sign: Instant | undefined
  /** A process that the turn has started and that still lives; `worked_at`: when it was last seen to use the CPU. */
  tool?: { worked_at?: Instant } | undefined
  prompted_at: Instant | undefined
  /** Somebody has its screen in front of them. */
  isSeen: boolean
}

/** `calm`: it goes on, so it is no longer shown as stuck. `forget`: nothing of it counts any more. */
export type SilenceStep = 'none' | 'nudge' | 'show' | 'restart' | 'calm' | 'forget'

/** A tool call that lives and does nothing (it waits for a network, a lock, another machine) is given so many times as long. */
const IDLE_TOOL = 6
/** A prompt so long after the nudge is somebody else's. */
const OTHER_PROMPT_MS = 60_000

/**
 * What to do about an agent that may be stuck. Pure. An agent that somebody must answer, that may not work for now, or of which nothing
 * is known, is not stuck. One that answered its nudge and stopped again is shown and not restarted: it lives, and needs a person.
 */
export function decideSilence(before: Silence | undefined, signs: SilenceSigns, rule: SilenceRule): SilenceStep {
  const { run, work, activity, trouble } = signs
  const known = before?.run === run.id && before.work === work ? before : undefined
  if (before && !known) return 'forget'
  if (rule.afterMs === undefined || work === undefined) return known ? 'forget' : 'none'
  if (isHolding(trouble) || (activity !== 'running' && activity !== 'quiet' && activity !== 'failed')) return 'none'
  const patienceMs = signs.tool && activity === 'running' ? rule.afterMs * IDLE_TOOL : rule.afterMs
  return known
    ? afterNudge(known, signs, rule, patienceMs)
    : silentMs(signs) >= patienceMs
      ? unseen('nudge', signs)
      : 'none'
}

function afterNudge(known: Silence, signs: SilenceSigns, rule: SilenceRule, patienceMs: number): SilenceStep {
  const { nudged_at, stuck_at } = known
  if (signs.prompted_at !== undefined && msOf(signs.prompted_at) - msOf(nudged_at) > OTHER_PROMPT_MS) return 'forget'
  if (stuck_at === undefined) return silentMs(signs, nudged_at) >= patienceMs ? 'show' : 'none'
  if (lastOf(signs) > stuck_at) return 'calm'
  const hasAnswered = signs.sign !== undefined && signs.sign > nudged_at
  const isDue = silentMs(signs, stuck_at) >= patienceMs && rule.respawn !== 'never'
  return isDue && !hasAnswered ? unseen('restart', signs) : 'none'
}

/** Whoever looks at it sees how it is, and may be about to type. */
const unseen = (step: SilenceStep, { isSeen }: SilenceSigns): SilenceStep => (isSeen ? 'none' : step)

/** Its last sign of life, whatever it was; at the latest its start. */
export function lastOf({ run, sign, tool }: Pick<SilenceSigns, 'run' | 'sign' | 'tool'>): Instant {
  return [sign, tool?.worked_at].reduce<Instant>((last, at) => (at ? laterOf(last, at) : last), run.started_at)
}

/** A clock that was set back makes no silence. */
function silentMs(signs: SilenceSigns, atLeast?: Instant): number {
  const last = lastOf(signs)
  return msOf(signs.now) - msOf(atLeast ? laterOf(last, atLeast) : last)
}

/** Since when a run that is shown as stuck is silent; undefined as soon as it gives a sign. */
export function stuckSince({ silence }: AgentRun, live: LiveRun, sign: Sign | undefined): Instant | undefined {
  if (!silence?.stuck_at || silence.run !== live.id) return undefined
  return sign && sign.at > silence.stuck_at ? undefined : silence.since
}
