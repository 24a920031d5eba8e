import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Fact } from '../tools/index.js'

/*
 * Blocks of words. The archive and the search keep the same ones: to compress what is said once takes as long as to read it.
 */

/** Passages are packed together up to this size: larger compresses better, smaller is quicker to look into. */
export const BLOCK_BYTES = 8 * 1024
/*
 * Measured on 104 MB of words in blocks of 6 kB, CPU seconds and share of the size left: deflate 1: 1.23 s, 48.3 %; brotli 0: 0.59 s,
 * 53.3 %; brotli 1: 0.76 s, 51.1 %. One block is unpackedBlock in 25 us (deflate) or 28 us (brotli).
 */
const HOW = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 16 },
  chunkSize: BLOCK_BYTES * 0.75,
}

export const packed = (text: Buffer): Buffer => brotliCompressSync(text, HOW)
export const unpackedBlock = (data: Uint8Array): Buffer => brotliDecompressSync(data, { chunkSize: BLOCK_BYTES + 1024 })

/** Compressed passages of one log. */
export interface PackedBlock {
  /** Before compression. */
  size: number
  data: Buffer
}

/** Where a passage is: in which of the blocks, and from which byte on. */
export interface BlockPlace {
  block: number
  start: number
}

/** Where a text is within some blocks: in which, from which byte on, and how long. */
export type WordPlace = [block: number, start: number, length: number]

/** Blocks in which the texts of some facts are. */
export interface SharedWords {
  blocks: readonly PackedBlock[]
  /** Undefined for a text that is in none of them, or not as it is. */
  placeOf(fact: Fact): WordPlace | undefined
}

/** Packs passages in their order. `begun` is what the first block holds already. */
export function packPassages(
  passages: readonly { bytes: Buffer }[],
  begun: Buffer = NOTHING,
): { blocks: PackedBlock[]; places: BlockPlace[] } {
  const blocks: PackedBlock[] = []
  if (passages.length === 0) return { blocks, places: [] }
  let pieces = begun.length > 0 ? [begun] : []
  let size = begun.length
  const flush = (): void => {
    if (size > 0) blocks.push({ size, data: packed(joined(pieces, size)) })
    pieces = []
    size = 0
  }
  const places = passages.map(({ bytes }) => {
    if (size > 0 && size + bytes.length > BLOCK_BYTES) flush()
    const place = { block: blocks.length, start: size }
    pieces.push(bytes)
    size += bytes.length
    return place
  })
  flush()
  return { blocks, places }
}

/** Mostly they lie one behind the other already. */
function joined(pieces: readonly Buffer[], size: number): Buffer {
  const [first = NOTHING] = pieces
  let end = first.byteOffset
  for (const piece of pieces) {
    if (piece.buffer !== first.buffer || piece.byteOffset !== end) return Buffer.concat(pieces, size)
    end += piece.length
  }
  return Buffer.from(first.buffer, first.byteOffset, size)
}

const NOTHING = Buffer.alloc(0)
