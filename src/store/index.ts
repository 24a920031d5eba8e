export { AgentFilesErasure } from './agent-files-erasure.js'
export { BudgetsErasure } from './budgets-erasure.js'
export { isInside, spellingsOf } from './directory-filter.js'
export type * from './event-api.js'
export { StoredEvents } from './events.js'
export { type Continuation, FoundLinks } from './found-links.js'
export type * from './index-api.js'
export { StoredIndexCare } from './index-care.js'
export { dropForeignLink, newGeneration, pointTo, setAsideGeneration } from './index-generation.js'
export { JournalErasure } from './journal-erasure.js'
export { keptWords, withoutPurged } from './kept-words.js'
export { type When, withMoments } from './moments.js'
export { FILLED_AGAIN, type ProfilePaths, profilePaths, profilesDirectory } from './paths.js'
export { ProfileStore } from './profile-store.js'
export {
  createProfile,
  DEFAULT_PROFILE,
  deleteProfile,
  listProfiles,
  parseProfile,
  profileNotFound,
} from './profiles.js'
export { type GoneSession, type KeptPurge, PurgeList } from './purge-list.js'
export { purgeStamp } from './purge-stamp.js'
export type * from './roster-api.js'
export { StoredRoster } from './roster-book.js'
export type * from './session-api.js'
export { StoredSessions } from './sessions.js'
export { setAside } from './set-aside.js'
export { SpoolErasure } from './spool-erasure.js'
export { withValues } from './with-values.js'
export type { ChangeState, Draft } from './write-batch.js'
