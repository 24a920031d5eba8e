import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { CachedTree, outdate, SLASH } from './cache-tree.js'
import type { LooseObjects } from './loose-object.js'
import { asBytes } from './snapshot.js'

/** What an entry of the index becomes. */
export interface EditedFile {
  /** In latin1. */
  path: string
  oid: string
  stat: BigIntStats
}

export interface IndexEdit {
  set: readonly EditedFile[]
  removed: readonly string[]
}

const HEADER = 12
const STAT = 40
const LONG_NAME = 0xfff
/** Unresolved, extended: git knows what to do with these. */
const UNUSUAL = 0x7000

/**
 * Changes some entries of an index and writes the trees that follow from it, as `git update-index` and `git write-tree` would: two processes
 * that read and write the whole index cost more than the rest of a snapshot. Undefined when the index is of a kind that is left to git.
 */
export function editIndex(
  bytes: Buffer,
  { set, removed }: IndexEdit,
  objects: LooseObjects,
): { bytes: Buffer; tree: string } | undefined {
  const { hashBytes } = objects
  const before = PlainIndex.read(bytes, hashBytes)
  if (!before) return undefined
  const { root } = before
  const edits = new Map<string, Buffer | undefined>(removed.map((path) => [path, undefined]))
  for (const file of set) {
    if (before.isInTheWay(asBytes(file.path))) return undefined
    edits.set(file.path, entryOf(asBytes(file.path), file, hashBytes))
  }
  const after = before.edited(edits)
  if (!after) return undefined
  for (const path of edits.keys()) outdate(root, asBytes(path))
  const tree = new TreeMaker(after, objects).make(root)
  const trees: Buffer[] = []
  root.writeTo(trees)
  const head = Buffer.alloc(8)
  head.write('TREE', 'latin1')
  head.writeUInt32BE(
    trees.reduce((sum, { length }) => sum + length, 0),
    4,
  )
  const content = Buffer.concat([after.bytes, head, ...trees])
  return { bytes: Buffer.concat([content, createHash(objects.format).update(content).digest()]), tree }
}

/** The tree of an index, as `git write-tree` makes it: most of it is remembered. Undefined when that is left to git. */
export function treeOfIndex(bytes: Buffer, objects: LooseObjects): string | undefined {
  const index = PlainIndex.read(bytes, objects.hashBytes)
  return index && new TreeMaker(index, objects).make(index.root)
}

/** The entries of an index of version 2. An entry is looked at only when it is asked for: there are tens of thousands. */
class PlainIndex {
  private constructor(
    readonly bytes: Buffer,
    private readonly hashBytes: number,
    /** Where each entry begins, and where the last one ends. */
    private readonly starts: Uint32Array,
    readonly root: CachedTree,
  ) {}

  /** Undefined when its trees are not known, or when it has something that only git understands. */
  static read(bytes: Buffer, hashBytes: number): PlainIndex | undefined {
    const end = bytes.length - hashBytes
    if (end < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC' || bytes.readUInt32BE(4) !== 2) return undefined
    const starts = startsIn(bytes, end, hashBytes)
    if (!starts) return undefined
    let root: CachedTree | undefined
    for (let at = starts.at(-1) ?? end; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4)) {
      const kind = bytes.toString('latin1', at, at + 4)
      const next = at + 8 + bytes.readUInt32BE(at + 4)
      // A kind that begins with a small letter must be understood; what the others say only makes git faster.
      if (next > end || !/^[A-Z]/.test(kind)) return undefined
      if (kind === 'TREE') root = CachedTree.read(bytes.subarray(at + 8, next), hashBytes)
    }
    return root && new PlainIndex(bytes, hashBytes, starts, root)
  }

  get count(): number {
    return this.starts.length - 1
  }

  start(n: number): number {
    return this.starts[n] ?? 0
  }

  name(n: number): Buffer {
    const from = this.start(n) + STAT + this.hashBytes + 2
    return this.bytes.subarray(from, this.bytes.indexOf(0, from))
  }

  /** The first entry that does not come before a name. */
  #placeOf(name: Buffer): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.name(middle).compare(name) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #has(name: Buffer, at = this.#placeOf(name)): boolean {
    return at < this.count && this.name(at).equals(name)
  }

  /** A file where the name needs a directory, or a directory where it needs a file. */
  isInTheWay(name: Buffer): boolean {
    if (this.#has(name)) return false
    const below = Buffer.concat([name, Buffer.from('/')])
    const next = this.#placeOf(below)
    if (next < this.count && this.name(next).subarray(0, below.length).equals(below)) return true
    for (let end = name.indexOf(SLASH); end >= 0; end = name.indexOf(SLASH, end + 1))
      if (this.#has(name.subarray(0, end))) return true
    return false
  }

  /** Header and entries with these put in, by path; undefined removes one. */
  edited(edits: ReadonlyMap<string, Buffer | undefined>): PlainIndex | undefined {
    const parts: Buffer[] = []
    let from = 0
    let count = this.count
    const sorted = [...edits].map(([path, entry]) => ({ name: asBytes(path), entry }))
    for (const { name, entry } of sorted.sort((a, b) => a.name.compare(b.name))) {
      const at = this.#placeOf(name)
      const isThere = this.#has(name, at)
      parts.push(this.bytes.subarray(from, this.start(at)), ...(entry ? [entry] : []))
      from = this.start(isThere ? at + 1 : at)
      count += (entry ? 1 : 0) - (isThere ? 1 : 0)
    }
    const bytes = Buffer.concat([...parts, this.bytes.subarray(from, this.starts.at(-1))])
    bytes.writeUInt32BE(count, 8)
    const starts = startsIn(bytes, bytes.length, this.hashBytes)
    return starts && new PlainIndex(bytes, this.hashBytes, starts, this.root)
  }
}

/** Undefined when an entry is unresolved or has flags of a later version, or when the index ends too early. */
function startsIn(bytes: Buffer, end: number, hashBytes: number): Uint32Array | undefined {
  const count = bytes.readUInt32BE(8)
  if (count > end / (STAT + hashBytes)) return undefined
  const starts = new Uint32Array(count + 1)
  let at = HEADER
  for (let n = 0; n < count; n += 1) {
    starts[n] = at
    const name = at + STAT + hashBytes + 2
    if (name >= end) return undefined
    const flags = bytes.readUInt16BE(name - 2)
    if ((flags & UNUSUAL) !== 0) return undefined
    const nameEnd = (flags & LONG_NAME) < LONG_NAME ? name + (flags & LONG_NAME) : bytes.indexOf(0, name)
    at += Math.ceil((nameEnd - at + 1) / 8) * 8
    if (nameEnd < name || at > end) return undefined
  }
  starts[count] = at
  return starts
}

function entryOf(name: Buffer, { oid, stat }: EditedFile, hashBytes: number): Buffer {
  const fixed = STAT + hashBytes + 2
  const entry = Buffer.alloc(Math.ceil((fixed + name.length + 1) / 8) * 8)
  const numbers = [
    stat.ctimeNs / NS,
    stat.ctimeNs % NS,
    stat.mtimeNs / NS,
    stat.mtimeNs % NS,
    stat.dev,
    stat.ino,
    BigInt(modeOf(stat)),
    stat.uid,
    stat.gid,
    stat.size,
  ]
  for (const [n, value] of numbers.entries()) entry.writeUInt32BE(Number(BigInt.asUintN(32, value)), n * 4)
  entry.write(oid, STAT, 'hex')
  entry.writeUInt16BE(Math.min(name.length, LONG_NAME), STAT + hashBytes)
  name.copy(entry, fixed)
  return entry
}

const NS = 1_000_000_000n

function modeOf(stat: BigIntStats): number {
  if (stat.isSymbolicLink()) return 0o120000
  return (Number(stat.mode) & 0o100) === 0 ? 0o100644 : 0o100755
}

/** Writes the tree of each directory that has changed; git keeps the entries of an index in the order of its trees. */
class TreeMaker {
  constructor(
    private readonly index: PlainIndex,
    private readonly objects: LooseObjects,
  ) {}

  make(root: CachedTree): string {
    this.#make(root, 0, 0)
    return root.oid
  }

  /** Of the directory whose first entry is at a place, and whose names begin at a byte. */
  #make(node: CachedTree, from: number, prefix: number): void {
    const { index, objects } = this
    const directory = index.name(from).subarray(0, prefix)
    const known = new Map(node.subtrees.map((one) => [one.name.toString('latin1'), one]))
    const tree = new GrowingBytes()
    const subtrees: CachedTree[] = []
    let at = from
    while (at < index.count) {
      const path = index.name(at)
      if (path.compare(directory, 0, prefix, 0, Math.min(prefix, path.length)) !== 0) break
      const end = path.indexOf(SLASH, prefix)
      const name = path.toString('latin1', prefix, end < 0 ? path.length : end)
      if (end < 0) {
        const start = index.start(at) + STAT
        tree.text(`${index.bytes.readUInt32BE(start - 16).toString(8)} ${name}\0`)
        tree.copy(index.bytes, start, start + objects.hashBytes)
        at += 1
        continue
      }
      const subtree = known.get(name) ?? CachedTree.unknown(asBytes(name), objects.hashBytes)
      if (subtree.count < 1) this.#make(subtree, at, end + 1)
      subtrees.push(subtree)
      tree.text(`40000 ${name}\0`)
      tree.copy(Buffer.from(subtree.oid, 'hex'), 0, objects.hashBytes)
      at += subtree.count
    }
    node.set({ count: at - from, oid: objects.write('tree', tree.bytes), subtrees })
  }
}

/** Bytes that are put together from many small pieces, without an object for each. */
class GrowingBytes {
  #buffer = Buffer.allocUnsafe(1024)
  #length = 0

  /** In latin1. */
  text(text: string): void {
    this.#makeRoom(text.length)
    this.#length += this.#buffer.write(text, this.#length, 'latin1')
  }

  copy(from: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start)
    this.#length += from.copy(this.#buffer, this.#length, start, end)
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #makeRoom(length: number): void {
    if (this.#length + length <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe((this.#length + length) * 2)
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
