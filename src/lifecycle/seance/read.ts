import type { FactsFrom, Home } from '../../home/index.js'
import { type Session, SkeinError } from '../../model/index.js'
import { predecessor } from './predecessor.js'

/** What a session did and said last, found without asking a model. */
interface Seance {
  session: Session
  /** Where it was read. */
  from: FactsFrom
  /** Some of it is missing. */
  is_part: boolean
  /** The same for people and models. */
  text: string
}

/** Reads the log of a session, or the archive where the log is gone. */
export async function readSeance(home: Home, reference: string, options?: { isNewest?: boolean }): Promise<Seance> {
  const session = await predecessor(home, reference, options)
  const [{ digestOf }, { digestText }] = await Promise.all([
    import('../handoff/digest.js'),
    import('../handoff/digest-text.js'),
  ])
  const found = await home.history.facts(
    session.id,
    (facts, { from, isPart, kept }) => ({ from, is_part: isPart, text: digestText(digestOf(facts, kept)) }),
    session.cwd === undefined ? {} : { cwd: session.cwd },
  )
  if (found) return { session, ...found }
  throw new SkeinError(
    'session-not-found',
    `Nothing is left of what was said in session ${session.id}: it has neither a log nor an archive`,
    `See what is known of it: skein show ${session.id}`,
  )
}
