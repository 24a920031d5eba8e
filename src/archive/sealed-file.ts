import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from 'node:zlib'
import type { Instant } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import type { LogOrigin, ReadMark } from './archived-log.js'
import { checkedLine, parseChecked } from './checked-line.js'
import { factBody, parseFactBody } from './fact-body.js'
import { latestUsage } from './usage-rows.js'
import { type SharedWords, unpackedBlock } from './word-blocks.js'

export interface SealedHeader extends LogOrigin, ReadMark {
  kind: 'sealed'
  v: number
  id: string
  sealed_at: Instant
  /** Set for an older version: the log was rewritten then, and lacks some of this since. */
  superseded_at?: Instant | undefined
  /** How much of what is compressed are texts; the first version had all of it as one list. */
  texts?: number | undefined
  /** The lengths of the blocks of words behind it. */
  blocks?: number[] | undefined
  /** A long log is compressed in pieces: the length of each, and how much of it, unpacked, are texts. Then it has no blocks. */
  pieces?: [length: number, texts: number][] | undefined
  /** Of what is compressed, and of the blocks as they are. */
  body_crc: number
}

export interface SealedContent {
  header: SealedHeader
  facts: Fact[]
  problem?: string
}

/** In the second one every fact was an object, in the first one no text stood apart. All are read. */
const VERSION = 3
/** Has pieces. Only long logs are written so: what an earlier Skein can read, it shall. */
const IN_PIECES = 4
/** A first line fits into these, but for a log with many abandoned turns. */
export const HEADER_BYTES = 4 * 1024

/*
 * Measured on 22 MB of facts (100 MB of logs), CPU seconds and share of the size left: deflate 1: 0.17 s, 32.0 %; deflate 6: 0.36 s,
 * 29.3 %; brotli 1: 0.11 s, 31.6 %; brotli 2: 0.16 s, 29.8 %; brotli 5: 0.44 s, 26.6 %. Zstandard is not in every Node we run on.
 */
const HOW = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 }, chunkSize: 32 * 1024 }

/**
 * A finished log: one line that says whose it is and how far it goes, then its facts, compressed, then blocks of words if its texts
 * are shared with the search. Written once, as a whole.
 */
export function sealedBytes(
  header: Omit<SealedHeader, 'kind' | 'v' | 'body_crc' | 'facts' | 'bytes' | 'texts' | 'blocks'>,
  told: readonly Fact[],
  shared?: SharedWords,
): Buffer {
  const facts = latestUsage(told)
  const { bytes: body, texts } = factBody(facts, shared?.placeOf)
  const blocks = shared?.blocks.map(({ data }) => data) ?? []
  const size = (shared?.blocks ?? []).reduce((sum, block) => sum + block.size, body.length)
  const whole: SealedHeader = {
    ...{ kind: 'sealed', v: VERSION, ...header },
    ...{ facts: facts.length, bytes: size, texts },
    ...(blocks.length > 0 ? { blocks: blocks.map(({ length }) => length) } : {}),
    body_crc: sumOf(body, blocks),
  }
  return Buffer.concat([Buffer.from(checkedLine(whole)), brotliCompressSync(body, HOW), ...blocks])
}

/** A piece of a long log, and the sum of it and of what came before it. */
export function sealedPiece(
  told: readonly Fact[],
  sum: number,
): { data: Buffer; texts: number; facts: number; size: number; sum: number } {
  const facts = latestUsage(told)
  const { bytes: body, texts } = factBody(facts)
  return { data: brotliCompressSync(body, HOW), texts, facts: facts.length, size: body.length, sum: crc32(body, sum) }
}

/** The first line of a log in pieces. */
export const piecesHeader = (header: Omit<SealedHeader, 'kind' | 'v' | 'texts' | 'blocks'>): string =>
  checkedLine({ kind: 'sealed', v: IN_PIECES, ...header })

const sumOf = (body: Buffer, blocks: readonly Buffer[]): number =>
  blocks.reduce((sum, block) => crc32(block, sum), crc32(body))

/** What its first bytes say; undefined when they are none of ours. */
export function sealedHeader(start: Buffer): SealedHeader | undefined {
  const end = start.indexOf(0x0a)
  return end === -1 ? undefined : headerIn(start.toString('utf8', 0, end))
}

export function parseSealed(bytes: Buffer): SealedContent | { problem: string } {
  const header = sealedHeader(bytes)
  if (!header) return { problem: 'its first line is damaged' }
  const body = bytes.indexOf(0x0a) + 1
  const facts: Fact[] = []
  const told = sealedPieces(header, {
    length: bytes.length - body,
    read: (at, length) => bytes.subarray(body + at, body + at + length),
  })
  for (let next = told.next(); ; next = told.next()) {
    if (next.done) return { header, facts, ...(next.value === undefined ? {} : { problem: next.value }) }
    for (const fact of next.value) facts.push(fact)
  }
}

/** What follows the first line of a sealed log, wherever it is. */
export interface SealedBody {
  length: number
  read(at: number, length: number): Buffer
}

/** Its facts, a piece at a time. Returns what is wrong with it. */
export function* sealedPieces(
  header: SealedHeader,
  { length, read }: SealedBody,
): Generator<Fact[], string | undefined> {
  if (!header.pieces) return yield* sealedInOne(header, read(0, length))
  let [at, sum] = [0, 0]
  for (const [size, texts] of header.pieces) {
    const body = unpacked(read(at, size))
    if (!body) return 'its contents cannot be decompressed'
    at += size
    sum = crc32(body, sum)
    const facts = parseFactBody({ bytes: body, texts }, () => NOTHING)
    if (!facts) return 'its contents are not JSON'
    yield facts
  }
  return sum === header.body_crc ? undefined : 'its checksum does not match its contents'
}

function* sealedInOne(header: SealedHeader, rest: Buffer): Generator<Fact[], string | undefined> {
  const { packed, blocks } = sealedParts(header, rest)
  const body = unpacked(packed)
  if (!body) return 'its contents cannot be decompressed'
  const words = new Map<number, Buffer>()
  const blockAt = (block: number): Buffer => {
    const known = words.get(block) ?? unpackedOr(blocks[block], unpackedBlock) ?? NOTHING
    words.set(block, known)
    return known
  }
  const facts = parseFactBody({ bytes: body, texts: header.texts ?? 0 }, blockAt)
  if (facts) yield facts
  if (sumOf(body, blocks) !== header.body_crc) return 'its checksum does not match its contents'
  return facts ? undefined : 'its contents are not JSON'
}

/** What follows the first line. */
export function sealedParts(
  { blocks = [] }: { blocks?: number[] | undefined },
  rest: Buffer,
): { packed: Buffer; blocks: Buffer[] } {
  let at = Math.max(0, rest.length - blocks.reduce((sum, length) => sum + length, 0))
  const packed = rest.subarray(0, at)
  return {
    packed,
    blocks: blocks.map((length) => {
      at += length
      return rest.subarray(at - length, at)
    }),
  }
}

const unpacked = (bytes: Buffer): Buffer | undefined => unpackedOr(bytes, brotliDecompressSync)

function unpackedOr(bytes: Buffer | undefined, unpack: (bytes: Buffer) => Buffer): Buffer | undefined {
  try {
    return bytes && unpack(bytes)
  } catch {
    return undefined
  }
}

const NOTHING = Buffer.alloc(0)

function headerIn(line: string): SealedHeader | undefined {
  const header = parseChecked(line)
  return header?.kind === 'sealed' && Number(header.v) <= IN_PIECES ? (header as unknown as SealedHeader) : undefined
}
