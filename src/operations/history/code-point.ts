import type { CodedTurn, Home, Snapshot } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'

/** The code before or after a turn. */
export interface CodePoint {
  turn: number
  edge: 'before' | 'after'
  snapshot: Snapshot
}

/** As it is shown: which turn, when, and whether it is exactly the code of that moment. */
export const pointDocument = ({ turn, edge, snapshot }: CodePoint) => ({
  turn,
  edge,
  as_of: snapshot.as_of,
  is_exact: snapshot.exact && snapshot.mode === 'whole',
  late: snapshot.late,
})

export interface CodedSession {
  session: string
  turns: CodedTurn[]
  /** The session that its first turns were copied from, and the last of them. */
  origin?: { session: string; turn?: number }
}

export async function codedSession(home: Home, reference: string): Promise<CodedSession> {
  const session = await home.sessions.find(reference)
  const origin = session.forked_from
  return {
    session: session.id,
    turns: await home.history.codedTurns(session.id, { readsNew: true }),
    ...(origin ? { origin } : {}),
  }
}

/** What the turn before left is what this one began with, where its own beginning was not captured. */
export function codePoint(coded: CodedSession, turn: number, edge: CodePoint['edge']): CodePoint {
  const { session, turns, origin } = coded
  const at = turns.findIndex((one) => one.turn === turn)
  const own = turns[at]
  const snapshot = edge === 'after' ? own?.after : (own?.before ?? turns[at - 1]?.after)
  if (snapshot) return { turn, edge, snapshot }
  const id = session.slice(0, 8)
  if (!own && origin?.turn !== undefined && turn <= origin.turn) {
    const from = origin.session.slice(0, 8)
    const copied = `Turn ${turn} of session ${id} was copied from session ${from}, which has its code`
    throw new SkeinError('snapshot-not-found', copied, `Ask that one: skein turns ${from}`)
  }
  const what = own ? `No snapshot was taken ${edge} turn ${turn} of session ${id}` : `Session ${id} has no turn ${turn}`
  throw new SkeinError('snapshot-not-found', what, `Run skein turns ${id} to see which turns have their code`)
}
