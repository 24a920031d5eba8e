import { closeSync, fstatSync, readSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { openPlain } from '../disk/index.js'

/** A file of which a few parts are read; a small one at once. */
class PartlyRead implements Disposable {
  readonly #whole: Buffer | undefined

  private constructor(
    private readonly file: number,
    readonly size: number,
  ) {
    if (size <= SMALL) this.#whole = this.#read(0, size)
  }

  static open(path: string): PartlyRead | undefined {
    const file = openPlain(path)
    return file === undefined ? undefined : new PartlyRead(file, fstatSync(file).size)
  }

  /** Fewer bytes than asked for where the file ends. */
  at(from: number, length: number): Buffer {
    const end = Math.min(from + length, this.size)
    if (end <= from) return NOTHING
    return this.#whole ? this.#whole.subarray(from, end) : this.#read(from, end - from)
  }

  #read(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    let done = 0
    for (let got = 1; got > 0 && done < length; done += got)
      got = readSync(this.file, bytes, done, length - done, from + done)
    return bytes.subarray(0, done)
  }

  [Symbol.dispose](): void {
    closeSync(this.file)
  }
}

const NOTHING = Buffer.alloc(0)
/** A pack of one capture, and the index of a usual repository. */
const SMALL = 1024 * 1024
const FAN = 8
const NAMES = FAN + 256 * 4
/** All names that begin with the same byte are read at once. */
const MOST_NAMES = 4 * 1024 * 1024

/** One object as a pack has it: a delta names what it is made from, by place or by object. */
export interface PackEntry {
  kind: number
  bytes: Buffer
  base: number | Buffer | undefined
}

const OFFSET_DELTA = 6
const NAMED_DELTA = 7

/** A pack with its index of version 2, read without git. Whoever uses what it gives compares it with its name: neither is checked here. */
export class PackFile implements Disposable {
  #pack: PartlyRead | undefined

  private constructor(
    private readonly path: string,
    private readonly index: PartlyRead,
    private readonly hashBytes: number,
    private readonly head: Buffer,
  ) {}

  /** By its name without an ending. Undefined when its index is gone or of another version. */
  static open(path: string, hashBytes: number): PackFile | undefined {
    const index = PartlyRead.open(`${path}.idx`)
    const head = index?.at(0, NAMES)
    if (index && head?.length === NAMES && head.toString('latin1', 0, FAN) === '\xfftOc\0\0\0\x02')
      return new PackFile(path, index, hashBytes, head)
    index?.[Symbol.dispose]()
    return undefined
  }

  /** How many names begin with a byte up to this one. */
  #upTo(first: number): number {
    return first < 0 ? 0 : this.head.readUInt32BE(FAN + first * 4)
  }

  /** Where an object begins. Undefined when the pack does not have it. */
  placeOf(oid: Buffer): number | undefined {
    const { hashBytes, index } = this
    if (oid.length !== hashBytes) return undefined
    const [from, to] = [this.#upTo((oid[0] ?? 0) - 1), this.#upTo(oid[0] ?? 0)]
    if (to <= from || (to - from) * hashBytes > MOST_NAMES) return undefined
    const names = index.at(NAMES + from * hashBytes, (to - from) * hashBytes)
    let [low, high] = [0, Math.floor(names.length / hashBytes)]
    while (low < high) {
      const middle = (low + high) >> 1
      const order = names.compare(oid, 0, hashBytes, middle * hashBytes, (middle + 1) * hashBytes)
      if (order === 0) return this.#offset(from + middle)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return undefined
  }

  /** Behind names and checksums; one that needs more than 31 bits is in a table of its own. */
  #offset(n: number): number | undefined {
    const [count, { hashBytes, index }] = [this.#upTo(255), this]
    const short = index.at(NAMES + count * (hashBytes + 4) + n * 4, 4)
    if (short.length < 4) return undefined
    const offset = short.readUInt32BE()
    if (offset < 2 ** 31) return offset
    const long = index.at(NAMES + count * (hashBytes + 8) + (offset - 2 ** 31) * 8, 8)
    return long.length < 8 ? undefined : Number(long.readBigUInt64BE())
  }

  /** Undefined when it is damaged, or larger than this. */
  entryAt(place: number, mostBytes: number): PackEntry | undefined {
    this.#pack ??= PartlyRead.open(`${this.path}.pack`)
    const start = this.#pack?.at(place, FIRST_READ)
    if (!this.#pack || !start || start.length < 2) return undefined
    const { kind, size, next } = headerIn(start)
    if (size > mostBytes) return undefined
    const base = this.#baseIn(start, kind, place, next)
    if (!base) return undefined
    // What zlib makes of a content is never larger than this; behind it are the objects that follow.
    const most = base.next + size + (size >> 2) + 64
    const packed = most <= start.length ? start : this.#pack.at(place, most)
    const bytes = inflated(packed.subarray(base.next), size)
    return bytes && { kind, bytes, base: base.of }
  }

  /** What a delta is made from comes before its content. */
  #baseIn(
    start: Buffer,
    kind: number,
    place: number,
    from: number,
  ): { of: number | Buffer | undefined; next: number } | undefined {
    if (kind === NAMED_DELTA) return { of: start.subarray(from, from + this.hashBytes), next: from + this.hashBytes }
    if (kind !== OFFSET_DELTA) return { of: undefined, next: from }
    let [next, byte] = [from + 1, start[from] ?? 0]
    let back = byte & 127
    for (; (byte & 128) !== 0 && next < start.length; next += 1) {
      byte = start[next] ?? 0
      back = (back + 1) * 128 + (byte & 127)
    }
    return back > 0 && back < place ? { of: place - back, next } : undefined
  }

  [Symbol.dispose](): void {
    this.index[Symbol.dispose]()
    this.#pack?.[Symbol.dispose]()
  }
}

/** Enough for most trees, and taken from the buffers that are there. */
const FIRST_READ = 2048

/** Kind and size: four bits of the size, then seven per byte, each byte but the last with its high bit set. */
function headerIn(bytes: Buffer): { kind: number; size: number; next: number } {
  let [byte, next] = [bytes[0] ?? 0, 1]
  const kind = (byte >> 4) & 7
  let size = byte & 15
  for (let factor = 16; (byte & 128) !== 0 && next < bytes.length; factor *= 128, next += 1) {
    byte = bytes[next] ?? 0
    size += (byte & 127) * factor
  }
  return { kind, size, next }
}

/** Undefined when it is damaged, or not of this size. */
export function inflated(bytes: Buffer, size: number): Buffer | undefined {
  try {
    const content = inflateSync(bytes, { maxOutputLength: Math.max(size, 1), chunkSize: Math.max(size, 64) })
    return content.length === size ? content : undefined
  } catch {
    return undefined
  }
}
