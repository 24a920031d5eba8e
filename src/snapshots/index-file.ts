/** One entry of a git index. What few callers ask for is read when they ask: an index has tens of thousands of entries. */
export class IndexEntry {
  constructor(
    /** In latin1: one character per byte. */
    readonly path: string,
    readonly mode: number,
    private readonly flags: number,
    private readonly more: number,
    private readonly bytes: Buffer,
    private readonly at: number,
    private readonly hashBytes: number,
  ) {}

  get oid(): string {
    return this.bytes.toString('hex', this.at + STAT, this.at + STAT + this.hashBytes)
  }

  /** 1 to 3 while a merge is not resolved. */
  get stage(): number {
    return (this.flags >> 12) & 3
  }

  /** Of the file when it was added, modulo 2^32. */
  get size(): number {
    return this.bytes.readUInt32BE(this.at + 36)
  }

  /** When the file was last changed in any way, as it was added. */
  get ctimeSeconds(): number {
    return this.bytes.readUInt32BE(this.at)
  }

  get ctimeNs(): bigint {
    return BigInt(this.ctimeSeconds) * 1_000_000_000n + BigInt(this.bytes.readUInt32BE(this.at + 4))
  }

  /** `--skip-worktree`: not in a sparse checkout. */
  get isSkipped(): boolean {
    return (this.more & 0x4000) !== 0
  }

  /** `--assume-unchanged`. */
  get isAssumed(): boolean {
    return (this.flags & 0x8000) !== 0
  }

  /** `add --intent-to-add`: only the name is in the index. */
  get isIntent(): boolean {
    return (this.more & 0x2000) !== 0
  }
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
    entries.push(new IndexEntry(path, bytes.readUInt32BE(start + 24), flags, more, bytes, start, hashBytes))
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
