import { type Session, SkeinError } from '../../model/index.js'

/** There is no conversation of a session that could be carried over. */
export function nothingSaid({ id }: Session, toldFrom: 'log' | 'archive' | 'counts' | 'journal'): SkeinError {
  if (toldFrom === 'journal')
    return new SkeinError(
      'session-not-found',
      `The program of session ${id} writes no log: Skein knows its turns without the replies, which is no conversation to carry`,
      `See its turns: skein turns ${id}`,
    )
  return new SkeinError(
    'session-not-found',
    `Nothing is left of what was said in session ${id}: it has neither a log nor an archive`,
    `See what is known of it: skein show ${id}`,
  )
}
