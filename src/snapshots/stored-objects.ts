import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { entriesIn, readPlain } from '../disk/index.js'
import type { LooseObjects } from './loose-object.js'
import { type PackEntry, PackFile } from './pack-file.js'
import type { ObjectKind } from './small-pack.js'

interface StoredObject {
  kind: ObjectKind
  content: Buffer
}

const KINDS: Readonly<Record<number, ObjectKind>> = { 1: 'commit', 2: 'tree', 3: 'blob' }
const MOST_BYTES = 8 * 1024 * 1024
/** A store with more is packed before long; git then looks for objects itself. */
const MOST_PACKS = 400
/** Git makes none deeper than 4,095, and 50 unless it is told otherwise. */
const MOST_DELTAS = 250
const MOST_KEPT = 200

/**
 * Reads some objects of a store without starting git. What is read is compared with its name, so that whatever is damaged, or of a kind that is
 * not known here, is only not found: git says what is the matter with it. Objects that the store borrows are not looked for.
 */
export class StoredObjects implements Disposable {
  readonly #directory: string
  #packs: PackFile[] | undefined
  /** What deltas are made from, most often that of the next one as well. */
  readonly #kept = new Map<PackFile, Map<number, StoredObject>>()

  constructor(
    store: string,
    private readonly objects: LooseObjects,
  ) {
    this.#directory = join(store, 'objects')
  }

  read(oid: string, kind: ObjectKind): Buffer | undefined {
    const found = this.#packed(Buffer.from(oid, 'hex'), 0) ?? this.#loose(oid)
    if (found?.kind !== kind || this.objects.oidOf(kind, found.content) !== oid) return undefined
    return found.content
  }

  get #opened(): PackFile[] {
    if (this.#packs) return this.#packs
    const directory = join(this.#directory, 'pack')
    const names = entriesIn(directory).filter((name) => name.endsWith('.idx'))
    const some = names.length > MOST_PACKS ? [] : names
    this.#packs = some.flatMap(
      (name) => PackFile.open(join(directory, name.slice(0, -4)), this.objects.hashBytes) ?? [],
    )
    return this.#packs
  }

  #packed(oid: Buffer, depth: number): StoredObject | undefined {
    const packs = this.#opened
    for (const [n, pack] of packs.entries()) {
      const place = pack.placeOf(oid)
      if (place === undefined) continue
      // The next one is most often in the same.
      packs.splice(n, 1)
      packs.unshift(pack)
      return this.#inPack(pack, place, depth)
    }
    return undefined
  }

  #inPack(pack: PackFile, place: number, depth: number): StoredObject | undefined {
    const known = this.#kept.get(pack)?.get(place)
    if (known) return known
    const entry = pack.entryAt(place, MOST_BYTES)
    if (!entry) return undefined
    const kind = KINDS[entry.kind]
    if (kind) return { kind, content: entry.bytes }
    return depth < MOST_DELTAS ? this.#fromDelta(pack, entry, depth + 1) : undefined
  }

  #fromDelta(pack: PackFile, { base, bytes }: PackEntry, depth: number): StoredObject | undefined {
    if (base === undefined) return undefined
    const of = Buffer.isBuffer(base) ? this.#packed(base, depth) : this.#inPack(pack, base, depth)
    if (of && !Buffer.isBuffer(base)) this.#keep(pack, base, of)
    const content = of && applied(of.content, bytes)
    return content && { kind: of.kind, content }
  }

  #keep(pack: PackFile, place: number, object: StoredObject): void {
    const kept = this.#kept.get(pack) ?? new Map<number, StoredObject>()
    if (kept.size < MOST_KEPT && object.content.length < MOST_BYTES / MOST_KEPT) kept.set(place, object)
    this.#kept.set(pack, kept)
  }

  #looseName(oid: string): string {
    return join(this.#directory, oid.slice(0, 2), oid.slice(2))
  }

  #loose(oid: string): StoredObject | undefined {
    const path = this.#looseName(oid)
    if (!existsSync(path)) return undefined
    try {
      const bytes = inflateSync(readPlain(path) ?? Buffer.alloc(0), { maxOutputLength: MOST_BYTES })
      const end = bytes.indexOf(0)
      const kind = Object.values(KINDS).find((one) => bytes.toString('latin1', 0, end).startsWith(`${one} `))
      return kind && { kind, content: bytes.subarray(end + 1) }
    } catch {
      return undefined
    }
  }

  [Symbol.dispose](): void {
    for (const pack of this.#packs ?? []) pack[Symbol.dispose]()
    this.#packs = []
  }
}

/** What a delta makes of a content: pieces of it, and pieces of its own. Undefined when it does not fit. */
export function applied(base: Buffer, delta: Buffer): Buffer | undefined {
  const from = sizeIn(delta, 0)
  const to = sizeIn(delta, from.next)
  if (from.size !== base.length || to.size > MOST_BYTES) return undefined
  const result = Buffer.allocUnsafe(to.size)
  let length = 0
  for (let at = to.next; at < delta.length; ) {
    const code = delta[at] ?? 0
    at += 1
    let [source, start, size] = [delta, at, code]
    if ((code & 128) !== 0) {
      let [offset, bytes, bit] = [0, 0, 1]
      for (let n = 0; n < 4; n += 1, bit <<= 1) if (code & bit) offset += (delta[at++] ?? 0) * 2 ** (8 * n)
      for (let n = 0; n < 3; n += 1, bit <<= 1) if (code & bit) bytes += (delta[at++] ?? 0) * 2 ** (8 * n)
      ;[source, start, size] = [base, offset, bytes === 0 ? 0x10000 : bytes]
    } else at += code
    if (size === 0 || start + size > source.length || length + size > to.size) return undefined
    length += source.copy(result, length, start, start + size)
  }
  return length === to.size ? result : undefined
}

/** Seven bits per byte, the lowest first. */
function sizeIn(bytes: Buffer, from: number): { size: number; next: number } {
  let [size, next] = [0, from]
  for (let factor = 1; next < bytes.length; factor *= 128) {
    const byte = bytes[next] ?? 0
    next += 1
    size += (byte & 127) * factor
    if ((byte & 128) === 0) break
  }
  return { size, next }
}
