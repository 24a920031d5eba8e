export type { ArchiveBook } from './care/archive-api.js'
export type { PrivacyUpkeep } from './care/privacy-api.js'
export type { History } from './history-api.js'
export { openHistory } from './open-history.js'
