import { optional, required } from '../field.js'
import { count } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION } from '../sessions/session-ref.js'
import { type CodedSession, type CodePoint, codedSession, codePoint, pointDocument } from './code-point.js'

export const diff = operation({
  name: 'diff',
  does: 'reads',
  where: 'either',
  summary: 'Show what a turn changed in the code',
  description:
    'Compares the snapshots before and after a turn; where the first was taken late and shows some of the turn already, the end of the turn before is compared. With two turns, compares the code after the first with the code after the second.',
  input: {
    session: SESSION,
    turn: required(count, 'Its number in skein turns'),
    to: optional(count, 'Compare with the code after this turn'),
  },
  result: 'turn-diff',
  async run({ session, turn, to }, { home }) {
    const opened = await home()
    const coded = await codedSession(opened, session)
    const from = to === undefined ? beginningOf(coded, turn) : codePoint(coded, turn, 'after')
    const until = codePoint(coded, to ?? turn, 'after')
    return {
      session: coded.session,
      from: pointDocument(from),
      to: pointDocument(until),
      changes: await opened.snapshots.changes(from.snapshot, until.snapshot),
      patch: await opened.snapshots.patch(from.snapshot, until.snapshot),
    }
  },
})

/** A snapshot of the prompt that was taken late has some of what the turn did; the end of the turn before has none of it. */
function beginningOf(coded: CodedSession, turn: number): CodePoint {
  const begun = codePoint(coded, turn, 'before')
  const before = coded.turns[coded.turns.findIndex((one) => one.turn === turn) - 1]
  if (begun.snapshot.late.length === 0 || !before?.after) return begun
  return { turn: before.turn, edge: 'after', snapshot: before.after }
}
