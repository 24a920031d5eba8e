import { type Evidence, INTERRUPTED, type Instant, laterOf, msOf, type TurnEnd } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import { activityOf } from './evidence.js'

/** A program may tell of the end of a turn this long after it could be seen. */
const LATE_MS = 10_000

/** What is known about an agent's turns. */
export interface TurnFacts {
  run?: { started_at: Instant }
  /** What was told, oldest first. */
  told: readonly Evidence[]
  /** Since when it last was seen at work on a turn. */
  busy_at?: Instant | undefined
  /** The last end that was decided. */
  turn_end?: TurnEnd | undefined
}

export interface LastTurn {
  begun_at?: Instant
  end?: TurnEnd
  /** It has begun, and nobody has told its end. */
  isOpen: boolean
}

/** The last turn, as it was told and as it was decided before. */
export function lastTurn(facts: TurnFacts): LastTurn {
  const told = toldTurn(facts)
  const begun_at = latestOf(facts.busy_at, told.begun_at)
  const end = laterEnd(facts.turn_end, told)
  const isOpen = begun_at !== undefined && (end === undefined || end.at < begun_at)
  return { ...(begun_at ? { begun_at } : {}), ...(end ? { end } : {}), isOpen }
}

/** The last end that was decided; files of earlier versions know of replies alone. */
export const turnEndOf = ({ turn_end, finished_at }: Pick<AgentRun, 'turn_end' | 'finished_at'>): TurnEnd | undefined =>
  turn_end ?? (finished_at === undefined ? undefined : { at: finished_at, how: 'finished' })

/** It has replied, and nobody has looked: an agent that is put to sleep is shown with that, too. */
export function unseenReply(run: Pick<AgentRun, 'turn_end' | 'finished_at' | 'acked_at'>): {
  waiting_for?: 'finished'
} {
  const end = turnEndOf(run)
  return end?.how === 'finished' && end.at > (run.acked_at ?? '') ? { waiting_for: 'finished' } : {}
}

/** What becomes of the last turn when its program is started again: one that was going on was cut off. */
export function turnBeforeStart(run: AgentRun, at: Instant): TurnEnd | undefined {
  const { told = [], busy_at } = run
  const { end, isOpen } = lastTurn({ told, busy_at, turn_end: turnEndOf(run), ...(run.run ? { run: run.run } : {}) })
  return isOpen
    ? { at, how: 'interrupted', reason: `${INTERRUPTED}: its program ended in the middle of the turn` }
    : end
}

export const latestOf = (a: Instant | undefined, b: Instant | undefined): Instant | undefined =>
  a !== undefined && b !== undefined ? laterOf(a, b) : (a ?? b)

function toldTurn({ told, run }: TurnFacts): Omit<LastTurn, 'isOpen'> {
  let begun_at: Instant | undefined
  let end: TurnEnd | undefined
  for (const evidence of told) {
    if (run && evidence.at < run.started_at) continue
    const isAfterWork = begun_at !== undefined && (end === undefined || end.at < begun_at)
    if (activityOf(evidence) === 'running' && evidence.turn !== 'none') begun_at = evidence.at
    // Said once more, it is no other end.
    else if (isAfterWork || end === undefined || isFailure(evidence, end)) end = endOf(evidence, isAfterWork) ?? end
  }
  return { ...(begun_at ? { begun_at } : {}), ...(end ? { end } : {}) }
}

const isFailure = (evidence: Evidence, end: TurnEnd): boolean =>
  activityOf(evidence) === 'failed' && end.how !== 'failed'

function endOf(evidence: Evidence, isAfterWork: boolean): TurnEnd | undefined {
  const { at, reason, trouble, turn } = evidence
  const said = { at, ...(reason === undefined ? {} : { reason }), ...(trouble ? { trouble } : {}) }
  switch (activityOf(evidence)) {
    case 'failed':
      return { ...said, how: 'failed' }
    case 'quiet':
      if (turn === 'none') return undefined
      if (turn === 'interrupted') return { at, how: 'interrupted' }
      return isAfterWork || turn === 'finished' || evidence.waiting_for === 'finished'
        ? { at, how: 'finished' }
        : undefined
    default:
      return undefined
  }
}

/** The one that was decided before stays, unless a later one was told. */
function laterEnd(decided: TurnEnd | undefined, told: Omit<LastTurn, 'isOpen'>): TurnEnd | undefined {
  if (!decided || !told.end) return told.end ?? decided
  if (told.end.at <= decided.at) return decided
  const isOther = told.begun_at !== undefined && told.begun_at > decided.at
  // Seen to be over before the program said so: that is one end. What the program says of it is better than what it looked like.
  if (isOther || msOf(told.end.at) - msOf(decided.at) >= LATE_MS) return told.end
  return decided.how === told.end.how ? decided : told.end
}
