import type { Home } from '../../home/index.js'
import { type Session, SkeinError } from '../../model/index.js'

/** One session, or with `chain` (and for a unit of work) all that carried the same line of work, in their order. */
export async function sessionsNamed({ sessions }: Home, reference: string, chain: boolean): Promise<Session[]> {
  if (!chain) {
    try {
      return [await sessions.find(reference)]
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'session-not-found') throw error
      // Not a session, so it may be a unit of work; if it is not, the error is the same.
    }
  }
  return (await sessions.chain(reference)).flatMap((one) => one.sessions)
}
