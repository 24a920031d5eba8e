import { brotliDecompressSync } from 'node:zlib'
import { parseFactBody } from './fact-body.js'
import { sealedParts } from './sealed-file.js'
import { unpackedBlock } from './word-blocks.js'

export interface ArchivedTexts {
  /** All of it, as it lies there. */
  stretches: string[]
  /** The same text by text: two that lie side by side are no text together. */
  texts: string[]
}

/** What a sealed file or a pack says, unpacked, with the lines that say whose it is. Undefined when it cannot be unpacked. */
export function archivedTexts(bytes: Buffer): ArchivedTexts | undefined {
  const end = bytes.indexOf(0x0a)
  const line = bytes.toString('utf8', 0, Math.max(0, end))
  const rest = bytes.subarray(end + 1)
  try {
    const header = JSON.parse(line) as {
      kind?: unknown
      texts?: number
      blocks?: number[]
      pieces?: [length: number, texts: number][]
      entries?: { at: number; length: number }[]
    }
    if (header.kind !== 'pack')
      return header.pieces ? textsInPieces(line, header.pieces, rest) : sealedTexts(line, header, rest)
    const all: ArchivedTexts = { stretches: [line], texts: [line] }
    for (const { at, length } of header.entries ?? []) {
      const part = archivedTexts(rest.subarray(at, at + length))
      if (part === undefined) return undefined
      all.stretches.push(...part.stretches)
      all.texts.push(...part.texts)
    }
    return all
  } catch {
    return undefined
  }
}

function sealedTexts(line: string, header: { texts?: number; blocks?: number[] }, rest: Buffer): ArchivedTexts {
  const { packed, blocks } = sealedParts(header, rest)
  const body = brotliDecompressSync(packed)
  const words = blocks.map((block) => unpackedBlock(block))
  const { texts = 0 } = header
  const list = body.toString('utf8', texts)
  const facts = parseFactBody({ bytes: body, texts }, (block) => words[block] ?? Buffer.alloc(0)) ?? []
  return {
    stretches: [line, ...words.map(String), ...(texts > 0 ? [body.toString('utf8', 0, texts)] : []), list],
    texts: [line, list, ...facts.flatMap(textsOf)],
  }
}

function textsInPieces(line: string, pieces: readonly [number, number][], rest: Buffer): ArchivedTexts {
  const all: ArchivedTexts = { stretches: [line], texts: [line] }
  let at = 0
  for (const [length, texts] of pieces) {
    const part = sealedTexts('', { texts }, rest.subarray(at, at + length))
    at += length
    for (const stretch of part.stretches) all.stretches.push(stretch)
    for (const text of part.texts) all.texts.push(text)
  }
  return all
}

/** Those that do not stand in the list. */
const textsOf = (fact: object): string[] =>
  ['prompt', 'text', 'result'].flatMap((name) => {
    const text = (fact as Record<string, unknown>)[name]
    return typeof text === 'string' ? [text] : []
  })
