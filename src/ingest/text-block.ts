import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Passages are packed together up to this size: larger compresses better, smaller is quicker to look into. */
export const BLOCK_BYTES = 8 * 1024
/** The quickest, with tables and a window as small as a block: higher levels gain little on texts of this size. */
const HOW = { level: 1, memLevel: 7, windowBits: 13 }

export const packed = (text: Buffer): Buffer => deflateRawSync(text, HOW)
export const unpacked = (data: Uint8Array): Buffer => inflateRawSync(data)
