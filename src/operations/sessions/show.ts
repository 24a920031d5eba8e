import type { Home } from '../../home/index.js'
import { TurnBranches, type TurnBranchView, turnBranchView } from '../../lifecycle/index.js'
import { isActive, type Session } from '../../model/index.js'
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
    const opened = await home()
    const { sessions, history } = opened
    const session = await sessions.find(reference)
    const branch = turnBranchOf(opened, session)
    const spent = (await history.spent([session.id])).get(session.id)
    const counted = await history.counts(session.id)
    return {
      ...session,
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

/** The branch on which the turns of a session are committed. */
export function turnBranchOf({ paths }: Pick<Home, 'paths'>, session: Session): TurnBranchView | undefined {
  const branch = session.agent_id === undefined ? undefined : new TurnBranches(paths.agents).of(session.agent_id)
  const isIts = branch && (isActive(session) || branch.done[session.id] !== undefined)
  return isIts ? turnBranchView(branch) : undefined
}
