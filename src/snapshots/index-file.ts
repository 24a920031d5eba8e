/** One entry of a git index. The path is latin1: one character per byte. */
export interface IndexEntry {
  path: string
  mode: number
  oid: string
  /** 1 to 3 while a merge is not resolved. */
  stage: number
  /** Of the file when it was added, modulo 2^32. */
  size: number
  /** When the file was last changed in any way, in nanoseconds, as it was added. */
  ctimeNs: bigint
  /** `--skip-worktree`: not in a sparse checkout. */
  isSkipped: boolean
  /** `--assume-unchanged`. */
  isAssumed: boolean
  /** `add --intent-to-add`: only the name is in the index. */
  isIntent: boolean
}

export interface IndexFile {
  entries: IndexEntry[]
  /** The name of the file that holds the rest, for a split index. */
  sharedWith: string | undefined
}

export const GITLINK = 0o160000

const HEADER = 12
const STAT = 40

/** Reads an index of any version (2 to 4). Undefined when it is none, or damaged. */
export function readIndex(bytes: Buffer, hashBytes: 20 | 32): IndexFile | undefined {
  try {
    return parse(bytes, hashBytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined // it ends too early
    throw error
  }
}

function parse(bytes: Buffer, hashBytes: number): IndexFile | undefined {
  if (bytes.length < HEADER + hashBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) return undefined
  const count = bytes.readUInt32BE(8)
  const entries: IndexEntry[] = []
  let at = HEADER
  let before = ''
  for (let n = 0; n < count; n += 1) {
    const start = at
    const flags = bytes.readUInt16BE(at + STAT + hashBytes)
    const isExtended = (flags & 0x4000) !== 0
    const more = isExtended ? bytes.readUInt16BE(at + STAT + hashBytes + 2) : 0
    at += STAT + hashBytes + (isExtended ? 4 : 2)
    let kept = ''
    if (version === 4) {
      const strip = varint(bytes, at)
      at = strip.next
      kept = before.slice(0, before.length - strip.value)
    }
    const end = bytes.indexOf(0, at)
    if (end < 0) return undefined
    const path = kept + bytes.toString('latin1', at, end)
    at = version === 4 ? end + 1 : start + Math.ceil((end - start + 1) / 8) * 8
    before = path
    entries.push({
      path,
      mode: bytes.readUInt32BE(start + 24),
      oid: bytes.toString('hex', start + STAT, start + STAT + hashBytes),
      stage: (flags >> 12) & 3,
      size: bytes.readUInt32BE(start + 36),
      ctimeNs: BigInt(bytes.readUInt32BE(start)) * 1_000_000_000n + BigInt(bytes.readUInt32BE(start + 4)),
      isSkipped: (more & 0x4000) !== 0,
      isAssumed: (flags & 0x8000) !== 0,
      isIntent: (more & 0x2000) !== 0,
    })
  }
  return { entries, sharedWith: shared(bytes, at, hashBytes) }
}

/** The extension `link` names the shared file of a split index. */
function shared(bytes: Buffer, from: number, hashBytes: number): string | undefined {
  for (let at = from; at + 8 <= bytes.length - hashBytes; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes.toString('latin1', at, at + 4) !== 'link') continue
    const oid = bytes.toString('hex', at + 8, at + 8 + hashBytes)
    return /^0+$/.test(oid) ? undefined : `sharedindex.${oid}`
  }
  return undefined
}

/** The offset encoding of packs. */
function varint(bytes: Buffer, from: number): { value: number; next: number } {
  let byte = bytes.readUInt8(from)
  let value = byte & 127
  let next = from + 1
  while ((byte & 128) !== 0) {
    byte = bytes.readUInt8(next)
    value = (value + 1) * 128 + (byte & 127)
    next += 1
  }
  return { value, next }
}
