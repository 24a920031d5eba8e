import { keptWords } from '../../home/index.js'
import { instantOf, laterOf, msOf, type SessionId, SkeinError, type TurnEnd } from '../../model/index.js'
import { failedTurn, type LoggedTurn } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { lastTurn, turnEndOf } from './turn-end.js'

/** The program, its hook and its log do not look at the clock at the same moment. */
const SAME_MS = 1_500

/** The turns of the conversation an agent is in, as its log has them. A log that is not there, or that no reader knows, has none. */
export async function turnsOf(parts: Parts, run: AgentRun): Promise<readonly LoggedTurn[]> {
  const session = run.binding?.session
  if (!session) return []
  try {
    const { turns, from_log } = await parts.home.history.turns(session, { verbatim: true })
    return from_log ? turns : await unread(parts, run, session)
  } catch (error) {
    if (error instanceof SkeinError) return await unread(parts, run, session)
    throw error
  }
}

/** Loaded when it is needed: readers of logs are half of the program, and a list of agents does without. */
async function unread(parts: Parts, run: AgentRun, session: SessionId): Promise<readonly LoggedTurn[]> {
  const { unreadTurns } = await import('./unread-turns.js')
  return unreadTurns(parts, run, session)
}

/** How the agent's last turn ended, as its log has it: for the end of a turn that its program did not tell. */
export async function loggedEnd(parts: Parts, run: AgentRun): Promise<TurnEnd | undefined> {
  const { told = [], busy_at } = run
  const { begun_at } = lastTurn({ told, busy_at, turn_end: turnEndOf(run), ...(run.run ? { run: run.run } : {}) })
  const turn = (await turnsOf(parts, run)).findLast(({ live, copied }) => live && !copied)
  if (!turn?.started_at || begun_at === undefined || msOf(turn.started_at) < msOf(begun_at) - SAME_MS) return undefined
  const at = laterOf(turn.ended_at ?? instantOf(parts.context.clock.now()), begun_at)
  switch (turn.outcome) {
    case 'completed':
      return { at, how: 'finished' }
    case 'aborted':
      return { at, how: 'interrupted' }
    case 'failed': {
      const { reason, trouble } = failedTurn(turn.error ?? '')
      return { at, how: 'failed', trouble, ...(await keptWords({ reason }, parts.home)) }
    }
    case 'open':
      return turn.reply === undefined ? undefined : { at, how: 'finished' }
  }
}
