export { boundedInput, type InputLimits } from './bounded-input.js'
export { type ProgramCall, type ProgramEnd, runBounded } from './bounded-program.js'
export { editFile } from './edit-file.js'
export { explainDiskError, shortage } from './explain.js'
export { CHANGED, databaseStamp, ForeignDatabase } from './foreign-database.js'
export {
  copyGuarded,
  guardedText,
  kindOf,
  openGuarded,
  readGiven,
  readGuarded,
  readOpen,
} from './guarded-file.js'
export { FileLock } from './lock.js'
export { inDirectory, makeDirectory } from './make-directory.js'
export { deadMountOn, notAnswering, refuseDead, refuseDeadDirectory } from './mounts.js'
export {
  followed,
  foreignAt,
  isGone,
  isThere,
  openPlain,
  readPlain,
  realPath,
  refuseForeign,
  stampOf,
  statIfThere,
  statOf,
} from './plain-file.js'
export { entriesIn, ifThere, namesIn, textIn } from './present.js'
export {
  endOf,
  isProven,
  type Life,
  lifeOf,
  type ProcessOwner,
  type ProcessStat,
  processName,
  processStat,
  startTimeOf,
  thisProcess,
} from './process-owner.js'
export { type ProcessPlace, thisPlace, whereaboutsOf } from './process-place.js'
export { type RunningProcess, runningProcesses } from './process-table.js'
export { RowWriter } from './row-writer.js'
export { ScratchDirectory, sweepScratch } from './scratch-directory.js'
export {
  type Database,
  isDamage,
  openDatabase,
  openToRead,
  releaseFiles,
  SQLITE,
  type SqlValue,
  type Statement,
  sqliteCode,
} from './sqlite.js'
export { Statements } from './statements.js'
export { UnsuitableFile } from './unsuitable-file.js'
export {
  removeRemains,
  syncPath,
  temporaryName,
  writeAtomic,
  writeDurable,
  writeFully,
} from './write-atomic.js'
