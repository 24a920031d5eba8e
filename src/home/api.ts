import type { ArchiveBook, History, PrivacyUpkeep } from '../history/index.js'
import type { Purging } from '../purge/index.js'
import type { Programs } from '../settings/index.js'
import type { SnapshotBook } from '../snapshots/index.js'
import type { Events, IndexCare, ProfilePaths, RosterBook, Sessions } from '../store/index.js'
import type { WorkProvider } from '../work/index.js'

/** One profile of a Skein home, open. Everything the command line does is done through this. */
export interface Home extends AsyncDisposable {
  readonly profile: string
  /** The profile's directory. */
  readonly directory: string
  /** Where running agents keep what must outlive them. */
  readonly paths: Pick<ProfilePaths, 'agents' | 'spool' | 'beats' | 'budgets' | 'snapshots'>
  readonly sessions: Sessions
  readonly roster: RosterBook
  readonly events: Events
  readonly index: IndexCare
  readonly history: History
  /** The code state of turns. */
  readonly snapshots: SnapshotBook
  readonly privacy: Privacy
  readonly archive: ArchiveBook
  readonly programs: Programs
  /** Units of work and mail, where the settings say that they are kept. */
  readonly work: WorkProvider
}

/** What is stored of words: how it was filtered, and how it is erased. */
export interface Privacy extends PrivacyUpkeep, Purging {}
