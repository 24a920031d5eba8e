import type { ProfileStore } from './profile-store.js'
import type { Purging } from './purge-api.js'
import { purgeStamp } from './purge-stamp.js'
import type { SessionBook } from './sessions.js'

export interface PurgingParts {
  readonly root: string
  /** The home is the user's home directory: other files in it are not ours to look at. */
  readonly isShared: boolean
  readonly store: ProfileStore
  readonly sessions: Pick<SessionBook, 'findById'>
  nativeLogs(): Promise<string[]>
}

/** Purging loads every store; asking whether something was purged loads none. */
export function openPurging({ sessions, root, ...parts }: PurgingParts): Purging {
  return {
    lastPurge: () => purgeStamp(root),
    async purge(options) {
      const { Purge, sessionToPurge } = await import('./purge.js')
      const { PurgeBook } = await import('./purge-book.js')
      const findSession = (reference: string): ReturnType<typeof sessionToPurge> =>
        sessionToPurge(reference, (one) => sessions.findById(one))
      return new Purge({ ...parts, root, book: new PurgeBook(root), findSession }).run(options)
    },
  }
}
