import { brotliDecompressSync } from 'node:zlib'
import { sealedParts } from './sealed-file.js'
import { unpackedBlock } from './word-blocks.js'

/** What a sealed file or a pack says, unpacked, with the lines that say whose it is. Undefined when it cannot be unpacked. */
export function archivedTexts(bytes: Buffer): string[] | undefined {
  const end = bytes.indexOf(0x0a)
  const line = bytes.toString('utf8', 0, Math.max(0, end))
  const rest = bytes.subarray(end + 1)
  try {
    const header = JSON.parse(line) as {
      kind?: unknown
      texts?: number
      blocks?: number[]
      entries?: { at: number; length: number }[]
    }
    if (header.kind !== 'pack') {
      const { packed, blocks } = sealedParts(header, rest)
      const body = brotliDecompressSync(packed)
      const { texts = 0 } = header
      const words = blocks.map((block) => unpackedBlock(block).toString())
      return [line, ...words, ...(texts > 0 ? [body.toString('utf8', 0, texts)] : []), body.toString('utf8', texts)]
    }
    const parts = (header.entries ?? []).map(({ at, length }) => archivedTexts(rest.subarray(at, at + length)))
    return parts.some((part) => part === undefined) ? undefined : [line, ...parts.flatMap((part) => part ?? [])]
  } catch {
    return undefined
  }
}
