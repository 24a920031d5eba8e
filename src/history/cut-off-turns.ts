import { type Instant, isInterruption, parseInstant, type Session } from '../model/index.js'
import type { Events } from '../store/index.js'
import type { LoggedTurn } from '../tools/index.js'

/** When its program was known to be gone. */
export interface Over {
  /** The session has ended then. */
  endedAt?: Instant | undefined
  /** It was started again then. */
  resumedAt?: Instant | undefined
  /** Its user interrupted it then. Claude Code takes a prompt that has no reply yet back into its input line and writes nothing. */
  interruptedAt?: Instant | undefined
}

/** The journal is read only for a turn that may be under way. */
export async function knownEnd(
  events: Pick<Events, 'read'>,
  { id, agent_id, ended_at: endedAt }: Session,
  turns: readonly LoggedTurn[],
): Promise<Over> {
  const since = turns.findLast(({ outcome }) => outcome === 'open')?.started_at
  if (since === undefined || endedAt !== undefined) return { endedAt }
  const resumed = (await events.read({ type: 'session_resumed', session: id, since })).at(-1)
  const statuses = agent_id === undefined ? [] : await events.read({ type: 'agent_status', since })
  const interrupted = statuses.findLast(({ payload }) => payload.agent_id === agent_id && isInterruption(payload))
  return {
    resumedAt: parseInstant(String(resumed?.payload.resumed_at)),
    interruptedAt: parseInstant(String(interrupted?.payload.since)),
  }
}

/**
 * A log does not tell that its program was killed: the turn that was under way has no end there. It is over all the same when the session
 * has ended, was resumed or was interrupted since, when another turn came after a tool call that never returned, or when the conversation goes
 * on from an earlier one.
 */
export function withCutOff(turns: readonly LoggedTurn[], over: Over): LoggedTurn[] {
  const newest = Math.max(0, ...turns.filter(({ live }) => live).map(({ number }) => number))
  return turns.map((turn) => {
    const isLeft = turn.number < newest && (!turn.live || isHanging(turn))
    const isCutOff = turn.outcome === 'open' && (isLeft || isPast(turn, over))
    return isCutOff ? { ...turn, outcome: 'aborted' } : turn
  })
}

/** By its last sign of life: a session that was taken for ended, or that only its log tells of, may go on in the middle of a turn. */
function isPast(
  { started_at, ended_at = started_at }: LoggedTurn,
  { endedAt, resumedAt, interruptedAt }: Over,
): boolean {
  if (ended_at === undefined) return false
  const isBefore = (at: Instant | undefined): boolean => at !== undefined && ended_at < at
  return (endedAt !== undefined && ended_at <= endedAt) || isBefore(resumedAt) || isBefore(interruptedAt)
}

const isHanging = ({ tool_calls }: LoggedTurn): boolean =>
  tool_calls.some(({ result, success }) => result === undefined && success === undefined)
