import type { SpooledMessage } from '../../journal/index.js'
import { OUTSIDE } from '../../tools/index.js'
import type { Parts } from '../parts.js'
import { readHookPayload } from '../prime/hook-message.js'
import { recordEnd } from '../run/recorded-session.js'

/** What installed hooks report of programs that their users have started themselves: that a session has ended. */
export async function takeOutside(parts: Parts, messages: readonly SpooledMessage[]): Promise<void> {
  for (const { agent, payload } of messages) {
    if (agent !== OUTSIDE) continue
    const { event, session, reason } = readHookPayload(payload)
    const known = event === 'SessionEnd' && session ? await parts.home.sessions.get(session) : undefined
    // One of an agent ends with its run.
    if (known && known.agent === undefined)
      await recordEnd(parts, known.id, reason === 'clear' ? 'clear' : 'exit', reason ?? 'it ended')
  }
}
