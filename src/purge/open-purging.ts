import type { ProfileStore, StoredSessions } from '../store/index.js'
import { purgeStamp } from '../store/index.js'
import type { Purging } from './purge-api.js'

export interface PurgingParts {
  readonly root: string
  /** The home is the user's home directory: other files in it are not ours to look at. */
  readonly isShared: boolean
  readonly store: ProfileStore
  readonly sessions: Pick<StoredSessions, 'findById'>
  nativeLogs(): Promise<string[]>
}

/** Purging loads every store; asking whether something was purged loads none. */
export function openPurging({ sessions, root, ...parts }: PurgingParts): Purging {
  return {
    lastPurge: () => purgeStamp(root),
    async purge(options) {
      const { Purge, sessionToPurge } = await import('./purge.js')
      const { PurgeList } = await import('../store/purge-list.js')
      const findSession = (reference: string): ReturnType<typeof sessionToPurge> =>
        sessionToPurge(reference, (one) => sessions.findById(one))
      return new Purge({ ...parts, root, book: new PurgeList(root), findSession }).run(options)
    },
  }
}
