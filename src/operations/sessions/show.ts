import { required } from '../field.js'
import { sessionRef } from '../kind.js'
import { operation } from '../operation.js'

export const SESSION = required(sessionRef, 'The beginning of its id, or its agent')

export const sessionsShow = operation({
  name: 'sessions.show',
  does: 'reads',
  where: 'either',
  summary: 'Show everything about one session',
  input: { session: SESSION },
  result: 'session',
  async run({ session: reference }, { home }) {
    const { sessions, history } = await home()
    const session = await sessions.find(reference)
    const spent = (await history.spent([session.id])).get(session.id)
    const counted = await history.counts(session.id)
    return {
      ...session,
      ...(spent ? { spent } : {}),
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
