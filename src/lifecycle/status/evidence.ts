import {
  type Evidence,
  type Instant,
  instantOf,
  laterOf,
  msOf,
  type Status,
  type StatusSource,
  type Wait,
} from '../../model/index.js'

/** What an agent is doing, apart from who has seen it: a finished reply and an idle prompt are the same activity. */
export type Activity = 'starting' | 'running' | 'blocked' | 'quiet' | 'failed' | 'over'

/** So many tellings are kept: enough to see where the last one began, few enough to write on every change. */
const TOLD_KEPT = 8

/** The rule of evidence that says: this agent cannot be seen from here, whatever it said last. */
export const UNREACHABLE = 'process:unreachable'

/** The rule of evidence that says: what the agent asked was answered by us. */
export const ANSWERED = 'answered'
export const ANSWERED_REASON = 'its question was answered'

/**
 * Told on behalf of a program whose last question was just answered: it would be taken to ask until it tells something else, and one
 * whose turn the answer has ended tells nothing. Dated to before the answer was given, so that all it does then is newer.
 */
export function toldAnswered(told: readonly Evidence[], at: Instant): Evidence[] {
  const last = told.at(-1)
  if (!last || activityOf(last) !== 'blocked') return [...told]
  const since = laterOf(at, instantOf(msOf(last.at) + 1))
  return mergeTold(told, [
    { source: 'report', at: since, status: 'running', reason: ANSWERED_REASON, rule: ANSWERED, turn: 'none' },
  ])
}

export function activityOf(seen: { status: Status; waiting_for?: Wait }): Activity | undefined {
  switch (seen.status) {
    case 'starting':
    case 'running':
      return seen.status
    case 'waiting':
      return seen.waiting_for === 'finished' ? 'quiet' : 'blocked'
    case 'idle':
      return 'quiet'
    case 'error':
      return 'failed'
    case 'stopped':
    case 'asleep':
      return 'over'
    case 'unknown':
      return undefined
  }
}

/** Sources that tell once, when something happens. All others are looked at, and say what is so at that moment. */
export const isTold = (source: StatusSource): boolean =>
  source === 'hook' || source === 'event-stream' || source === 'report'

/**
 * The newest of both, oldest first. Messages may arrive in any order and twice; what is kept depends only on which there
 * were.
 */
export function mergeTold(one: readonly Evidence[], other: readonly Evidence[]): Evidence[] {
  const all = new Map([...one, ...other].map((evidence) => [orderOf(evidence), evidence]))
  return [...all.keys()]
    .sort()
    .slice(-TOLD_KEPT)
    .flatMap((key) => all.get(key) ?? [])
}

/** Sorts by time, and sets a fixed order among what was told in the same millisecond: a better source last, so that it counts. */
function orderOf(evidence: Evidence): string {
  const { at, source, status, waiting_for, trouble, rule, reason } = evidence
  const rank = TOLD_RANK[source] ?? 0
  return JSON.stringify([at, rank, status, waiting_for ?? '', trouble ?? '', rule ?? '', reason ?? ''])
}

const TOLD_RANK: Partial<Record<StatusSource, number>> = { report: 1, 'event-stream': 2, hook: 3 }
