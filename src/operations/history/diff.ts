import { optional, required } from '../field.js'
import { count } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION } from '../sessions/session-ref.js'
import { codedSession, codePoint, pointDocument } from './code-point.js'

export const diff = operation({
  name: 'diff',
  does: 'reads',
  where: 'either',
  summary: 'Show what a turn changed in the code',
  description:
    'Compares the snapshots before and after a turn. With two turns, compares the code after the first with the code after the second.',
  input: {
    session: SESSION,
    turn: required(count, 'Its number in skein turns'),
    to: optional(count, 'Compare with the code after this turn'),
  },
  result: 'turn-diff',
  async run({ session, turn, to }, { home }) {
    const opened = await home()
    const coded = await codedSession(opened, session)
    const from = codePoint(coded, turn, to === undefined ? 'before' : 'after')
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
