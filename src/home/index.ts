export type {
  ArchiveBook,
  ArchiveCheck,
  ArchivedLog,
  ArchivePrune,
  ArchiveRetention,
  ArchiveStats,
  AuditOptions,
  Bisection,
  Blame,
  CodeChange,
  CodedTurn,
  CommitFile,
  CommitMaker,
  CostOptions,
  CostSpan,
  Explanation,
  FactsFrom,
  History,
  HitPlace,
  IngestOptions,
  IngestReport,
  LineWriter,
  PolicyApplication,
  Prices,
  PrivacyUpkeep,
  RestoredSession,
  SearchHit,
  SearchOptions,
  SearchReport,
  SessionCode,
  SessionHistory,
  TurnsOptions,
  WatchOptions,
} from '../history/index.js'
export type { PurgeOptions, PurgeReport, Purging } from '../purge/index.js'
export type { OnDone, Programs, Surroundings } from '../settings/index.js'
export { readSettings, type Settings, settingsTable } from '../settings/index.js'
export type { FileChange, Snapshot, SnapshotBook, StoreCheck, StoreStats, UpkeepNote } from '../snapshots/index.js'
export { diskWarning, readUpkeepNote, writeUpkeepNote } from '../snapshots/index.js'
export type {
  AddAgentOptions,
  Chain,
  EventFilter,
  EventStats,
  Events,
  IndexCare,
  IndexCheck,
  NewEvent,
  PolicyReport,
  PruneReport,
  RosterBook,
  SessionFilter,
  Sessions,
  SessionTree,
  StartOptions,
  StepOptions,
  TurnMarking,
  TypeDecay,
  When,
} from '../store/index.js'
export { createProfile, DEFAULT_PROFILE, deleteProfile, keptWords, listProfiles, setAside } from '../store/index.js'
export type {
  Health,
  Hooked,
  Inbox,
  NewMail,
  NewWork,
  WorkAgent,
  WorkFilter,
  WorkProvider,
} from '../work/index.js'
export { knownUnits } from '../work/index.js'
export type * from './api.js'
export { type HomeOptions, openHome } from './open-home.js'
