import type { ArchiveBook } from './archive-api.js'
import type { Events } from './event-api.js'
import type { History } from './history-api.js'
import type { IndexCare } from './index-api.js'
import type { ProfilePaths } from './paths.js'
import type { PrivacyUpkeep } from './privacy-api.js'
import type { Programs } from './programs-api.js'
import type { Purging } from './purge-api.js'
import type { RosterBook } from './roster-api.js'
import type { Sessions } from './session-api.js'

/** One profile of a Skein home, open. Everything the command line does is done through this. */
export interface Home extends AsyncDisposable {
  readonly profile: string
  /** The profile's directory. */
  readonly directory: string
  /** Where running agents keep what must outlive them. */
  readonly paths: Pick<ProfilePaths, 'agents' | 'spool'>
  readonly sessions: Sessions
  readonly roster: RosterBook
  readonly events: Events
  readonly index: IndexCare
  readonly history: History
  readonly privacy: Privacy
  readonly archive: ArchiveBook
  readonly programs: Programs
}

/** What is stored of words: how it was filtered, and how it is erased. */
export interface Privacy extends PrivacyUpkeep, Purging {}
