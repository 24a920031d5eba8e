import { optional } from '../field.js'
import { turnState } from '../history/turn-state.js'
import { count } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION, turnBranchOf } from './session-ref.js'

export const sessionsShow = operation({
  name: 'sessions.show',
  does: 'reads',
  where: 'either',
  summary: 'Show everything about one session',
  description:
    'With --turn, everything about one of its turns: what it was asked, what it did, cost and changed, and with what it began.',
  input: { session: SESSION, turn: optional(count, 'Only this turn, by its number in skein turns') },
  result: 'session',
  async run({ session: reference, turn }, { home }) {
    const opened = await home()
    const { sessions, history } = opened
    const session = await sessions.find(reference)
    const branch = turnBranchOf(opened, session)
    const spent = (await history.spent([session.id])).get(session.id)
    const counted = await history.counts(session.id)
    return {
      ...session,
      ...(turn === undefined ? {} : { turn: await turnState(opened, session.id, turn) }),
      ...(spent ? { spent } : {}),
      ...(branch ? { turn_branch: branch } : {}),
      ...(counted.turns > 0
        ? {
            turn_count: counted.turns,
            message_count: counted.messages,
            tool_call_count: counted.tool_calls,
            unread_lines: counted.unread_lines,
            unknown_records: counted.unknown_records,
          }
        : {}),
    }
  },
})
