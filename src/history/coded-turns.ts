import type { Snapshot } from '../snapshots/index.js'
import type { LoggedTurn } from '../tools/index.js'

/** A turn with the code as it was when its prompt was sent and when it ended. */
export interface CodedTurn {
  /** Its number in `skein turns`. */
  turn: number
  before?: Snapshot
  after?: Snapshot
}

/** Longest time between the moment that a program reports a prompt and the one that its log gives it. */
const NEAR_MS = 60_000
/** A log may date the prompt after the report of it by a moment, and some logs have no milliseconds. */
const SLACK_MS = 1_500

interface Begun {
  number: number
  atMs: number
  isOpen: boolean
}

/**
 * Binds snapshots to the turns of a log. They are taken before the log has the turn, so they are bound by time: a prompt to the nearest
 * beginning of a turn, an end to the turn that had begun last.
 */
export function codedTurns(
  turns: readonly Pick<LoggedTurn, 'number' | 'started_at' | 'copied' | 'outcome'>[],
  snapshots: readonly Snapshot[],
): CodedTurn[] {
  const begun = turns
    .flatMap(({ number, started_at, copied, outcome }): Begun[] =>
      started_at === undefined || copied ? [] : [{ number, atMs: Date.parse(started_at), isOpen: outcome === 'open' }],
    )
    .sort((a, b) => a.atMs - b.atMs)
  const stops = snapshots.filter(({ moment }) => moment === 'stop')
  const prompts = snapshots.filter(({ moment }) => moment === 'prompt')
  const coded = begun.map(({ number, atMs, isOpen }): Placed => {
    const before = promptOf(atMs, begun, prompts, stops)
    return { turn: number, atMs, isOpen, ...(before ? { before } : {}) }
  })
  for (const stop of stops) {
    const ended = endedBy(stop, coded, stops)
    if (ended) ended.after = stop
  }
  return coded.map(({ atMs: _atMs, isOpen: _isOpen, ...turn }) => turn)
}

interface Placed extends CodedTurn {
  atMs: number
  /** It has not ended yet. */
  isOpen: boolean
}

/**
 * The turn that had begun last. One that the log dates after the end had begun if its prompt was reported before it, and the turn before it
 * has an end of its own. Where it may be either's, it is nobody's: the code of another turn is worse than none.
 */
function endedBy(stop: Snapshot, coded: readonly Placed[], stops: readonly Snapshot[]): Placed | undefined {
  const at = coded.findLastIndex(({ atMs }) => atMs <= asOf(stop))
  const [last, next] = [coded[at], coded[at + 1]]
  const isNear = next !== undefined && next.atMs <= asOf(stop) + SLACK_MS
  if (!isNear) return last
  if (!last) return !next.before || asOf(next.before) <= asOf(stop) ? next : undefined
  if (!next.before) return last.after ? undefined : last
  if (asOf(next.before) > asOf(stop)) return last
  // The prompt was there before the end: of a turn that was over in a moment, or of one that waited for the end of the other.
  if (last.after && asOf(last.after) <= asOf(next.before)) return next
  const until = coded[at + 2]?.atMs ?? Number.POSITIVE_INFINITY
  const hasOwn = next.isOpen || stops.some((other) => asOf(other) > asOf(stop) && asOf(other) < until)
  return hasOwn ? last : undefined
}

/** The nearest one that is no nearer to another turn, with no end of a turn in between. */
function promptOf(
  atMs: number,
  begun: readonly Begun[],
  prompts: readonly Snapshot[],
  stops: readonly Snapshot[],
): Snapshot | undefined {
  const away = (snapshot: Snapshot): number => Math.abs(asOf(snapshot) - atMs)
  const isOurs = (snapshot: Snapshot): boolean =>
    away(snapshot) <= NEAR_MS &&
    begun.every((other) => Math.abs(asOf(snapshot) - other.atMs) >= away(snapshot)) &&
    !stops.some((stop) => asOf(stop) > atMs && asOf(stop) < asOf(snapshot))
  return prompts.filter(isOurs).sort((a, b) => away(a) - away(b))[0]
}

export const asOf = ({ as_of }: Snapshot): number => Date.parse(as_of)
