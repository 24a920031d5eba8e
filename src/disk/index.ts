export { explainDiskError } from './explain.js'
export { FileLock } from './lock.js'
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
export { syncPath, writeAtomic, writeFully } from './write-atomic.js'
