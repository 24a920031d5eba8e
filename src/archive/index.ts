export { Archive } from './archive.js'
export { type ArchivedContent, type ArchiveEntry, type ArchiveKey, ArchiveReader, keyAt } from './archive-reader.js'
export { type ArchiveBatch, type LogOrigin, originOf, type Standing } from './archived-log.js'
export { FactFilter } from './fact-filter.js'
