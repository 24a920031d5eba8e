export { Archive } from './archive.js'
export { ArchiveErasure } from './archive-erasure.js'
export { type ArchivedContent, type ArchiveEntry, type ArchiveKey, ArchiveReader, keyAt } from './archive-reader.js'
export { type ArchiveBatch, originOf, type ReadMark, type SealedBatch } from './archived-log.js'
export { FactFilter, type FilterSetup } from './fact-filter.js'
export { FactForgetter } from './fact-forgetter.js'
export { isCut } from './lost-facts.js'
export { storablePlace } from './storable-place.js'
export {
  BLOCK_BYTES,
  type BlockPlace,
  type PackedBlock,
  packed,
  packPassages,
  type SharedWords,
  unpackedBlock,
  type WordPlace,
} from './word-blocks.js'
