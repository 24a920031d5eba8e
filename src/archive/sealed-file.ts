import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from 'node:zlib'
import type { Instant } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import type { LogOrigin, Standing } from './archived-log.js'
import { checkedLine, parseChecked } from './checked-line.js'
import { factBody, parseFactBody } from './fact-body.js'

export interface SealedHeader extends LogOrigin, Standing {
  kind: 'sealed'
  v: number
  id: string
  sealed_at: Instant
  /** Set for an older version: the log was rewritten then, and lacks some of this since. */
  superseded_at?: Instant | undefined
  /** How much of what is compressed are texts; the first version had all of it as one list. */
  texts?: number | undefined
  /** Of what is compressed. */
  body_crc: number
}

export interface SealedContent {
  header: SealedHeader
  facts: Fact[]
  problem?: string
}

const VERSION = 2
/** A first line fits into these, but for a log with many abandoned turns. */
export const HEADER_BYTES = 4 * 1024

/*
 * Measured on 22 MB of facts (100 MB of logs), CPU seconds and share of the size left: deflate 1: 0.17 s, 32.0 %; deflate 6: 0.36 s,
 * 29.3 %; brotli 1: 0.11 s, 31.6 %; brotli 2: 0.16 s, 29.8 %; brotli 5: 0.44 s, 26.6 %. Zstandard is not in every Node we run on.
 */
const HOW = { [constants.BROTLI_PARAM_QUALITY]: 1 }

/** A log that is over: one line that says whose it is and how far it goes, then its facts, compressed. Written once, as a whole. */
export function sealedBytes(
  header: Omit<SealedHeader, 'kind' | 'v' | 'body_crc' | 'facts' | 'bytes' | 'texts'>,
  facts: readonly Fact[],
): Buffer {
  const { bytes: body, texts } = factBody(facts)
  const told: SealedHeader = {
    ...{ kind: 'sealed', v: VERSION, ...header },
    ...{ facts: facts.length, bytes: body.length, texts, body_crc: crc32(body) },
  }
  return Buffer.concat([Buffer.from(checkedLine(told)), compressed(body)])
}

/** What its first bytes say; undefined when they are none of ours. */
export function sealedHeader(start: Buffer): SealedHeader | undefined {
  const end = start.indexOf(0x0a)
  return end === -1 ? undefined : headerIn(start.toString('utf8', 0, end))
}

export function parseSealed(bytes: Buffer): SealedContent | { problem: string } {
  const header = sealedHeader(bytes)
  if (!header) return { problem: 'its first line is damaged' }
  const body = unpacked(bytes.subarray(bytes.indexOf(0x0a) + 1))
  if (!body) return { header, facts: [], problem: 'what is compressed in it cannot be unpacked' }
  const facts = parseFactBody({ bytes: body, texts: header.texts ?? 0 })
  if (crc32(body) !== header.body_crc)
    return { header, facts: facts ?? [], problem: 'its checksum does not fit what is in it' }
  return facts ? { header, facts } : { header, facts: [], problem: 'what is in it is not JSON' }
}

/** In one piece: it seldom takes more than half of what it was. */
const compressed = (body: Buffer): Buffer =>
  brotliCompressSync(body, { params: HOW, chunkSize: Math.max(1024, body.length >> 1) })

function unpacked(bytes: Buffer): Buffer | undefined {
  try {
    return brotliDecompressSync(bytes)
  } catch {
    return undefined
  }
}

function headerIn(line: string): SealedHeader | undefined {
  const header = parseChecked(line)
  return header?.kind === 'sealed' && Number(header.v) <= VERSION ? (header as unknown as SealedHeader) : undefined
}
