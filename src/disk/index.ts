export { explainDiskError } from './explain.js'
export { CHANGED, databaseStamp, ForeignDatabase } from './foreign-database.js'
export { FileLock } from './lock.js'
export { makeDirectory } from './make-directory.js'
export { foreignAt, openPlain, readPlain, refuseForeign, statIfThere } from './plain-file.js'
export { ifThere, namesIn, textIn } from './present.js'
export {
  type Life,
  lifeOf,
  type ProcessOwner,
  type ProcessStat,
  processStat,
  startTimeOf,
  thisProcess,
} from './process-owner.js'
export { RowWriter } from './row-writer.js'
export {
  type Database,
  isDamage,
  openDatabase,
  openToRead,
  SQLITE,
  type SqlValue,
  type Statement,
  sqliteCode,
} from './sqlite.js'
export { Statements } from './statements.js'
export { syncPath, writeAtomic, writeFully } from './write-atomic.js'
