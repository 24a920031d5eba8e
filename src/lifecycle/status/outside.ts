import type { SpooledMessage } from '../../journal/index.js'
import type { AgentId } from '../../model/index.js'
import { OUTSIDE } from '../../tools/index.js'
import type { Parts } from '../parts.js'
import { readHookPayload } from '../prime/hook-message.js'
import { mayLive, type OutsideSession, OutsideSessions } from '../prime/outside-sessions.js'
import { recordEnd } from '../run/recorded-session.js'

type OutsideParts = Pick<Parts, 'home'>

const sessionsOf = ({ home }: OutsideParts): OutsideSessions => new OutsideSessions(home.paths.agents)

/** What installed hooks report of programs that their users have started themselves: that a session has ended. */
export async function takeOutside(parts: Parts, messages: readonly SpooledMessage[]): Promise<void> {
  for (const { agent, payload } of messages) {
    if (agent !== OUTSIDE) continue
    const { event, session, reason } = readHookPayload(payload)
    const known = event === 'SessionEnd' && session ? await parts.home.sessions.get(session) : undefined
    const outside = sessionsOf(parts)
    // One that an agent's run has ends with that run.
    if (!known || (known.agent !== undefined && !outside.has(known.id))) continue
    await recordEnd(parts, known.id, reason === 'clear' ? 'clear' : 'exit', reason ?? 'it ended')
    outside.forget(known.id)
  }
}

/** Ends the sessions whose program is gone without a word: killed, or of a kind that does not report its end. */
export async function endGoneOutside(parts: Parts): Promise<void> {
  const outside = sessionsOf(parts)
  for (const one of outside.all()) {
    if (mayLive(one)) continue
    if (!(await isTakenUp(parts, one))) await recordEnd(parts, one.session, 'exit', 'its program has ended')
    outside.forget(one.session)
  }
}

/** An agent's run has continued the same conversation since. */
async function isTakenUp({ runs }: Parts, { agent, session }: OutsideSession): Promise<boolean> {
  const run = agent && (await runs.found(agent)).run
  return run?.run !== undefined && run.run.ended_at === undefined && run.binding?.session === session
}

/** The programs that run as an agent although Skein has not started them. */
export function livingOutside(parts: OutsideParts): ReadonlyMap<AgentId, OutsideSession> {
  const living = sessionsOf(parts).all().filter(mayLive)
  return new Map(living.flatMap((one) => (one.agent ? [[one.agent, one] as const] : [])))
}
