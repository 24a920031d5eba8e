import type { Forgetter } from './forgetter.js'

/** What was purged from the home and must not come back from the logs, which are not ours to change. */
export interface PurgeFilter {
  forgetter: Forgetter
  /** Counts purges. What was read under an earlier one is not stored any more. */
  generation: number
  isSessionGone(session: string): boolean
  isLogGone(path: string, part: string): boolean
}
