interface TreeFacts {
  /** Entries of the index below it; -1 when it has to be made again. */
  count: number
  oid: Buffer
}

const NO_OID = Buffer.alloc(0)

/**
 * What an index remembers of the tree of one directory. A directory whose entries have changed has no object and no count. What is below one is
 * read when somebody asks, and written as it was read: there are thousands, and a snapshot changes a few.
 */
export class CachedTree {
  #facts: TreeFacts | undefined
  #subtrees: readonly CachedTree[] | undefined
  /** Whether this directory and all below it are as they were read. */
  #isUntouched = true

  private constructor(
    readonly name: Buffer,
    private readonly bytes: Buffer,
    private readonly hashBytes: number,
  ) {}

  /** Reads the extension `TREE` of an index. Undefined when it is damaged. */
  static read(bytes: Buffer, hashBytes: number): CachedTree | undefined {
    return endOf(bytes, 0, hashBytes) === bytes.length ? CachedTree.#at(bytes, hashBytes) : undefined
  }

  /** Of a directory that is new. */
  static unknown(name: Buffer, hashBytes: number): CachedTree {
    const tree = new CachedTree(name, NO_OID, hashBytes)
    tree.set({ count: -1, oid: NO_OID, subtrees: [] })
    return tree
  }

  static #at(bytes: Buffer, hashBytes: number): CachedTree {
    return new CachedTree(bytes.subarray(0, endOfName(bytes, 0)), bytes, hashBytes)
  }

  get count(): number {
    return this.#known.count
  }

  get oid(): Buffer {
    return this.#known.oid
  }

  get subtrees(): readonly CachedTree[] {
    this.#subtrees ??= this.#parseSubtrees()
    return this.#subtrees
  }

  /** Says that something in it is not what it was. */
  outdate(): void {
    this.set({ count: -1, oid: NO_OID, subtrees: this.subtrees })
  }

  set({ count, oid, subtrees }: TreeFacts & { subtrees: readonly CachedTree[] }): void {
    this.#facts = { count, oid }
    this.#subtrees = subtrees
    this.#isUntouched = false
  }

  writeTo(parts: Buffer[]): void {
    if (this.#isUntouched) {
      parts.push(this.bytes)
      return
    }
    const { name, count, oid, subtrees } = this
    parts.push(name, Buffer.from(`\0${count} ${subtrees.length}\n`), count < 0 ? NO_OID : oid)
    // Git looks for a name by its length first.
    const sorted = [...subtrees].sort((a, b) => a.name.length - b.name.length || a.name.compare(b.name))
    for (const one of sorted) one.writeTo(parts)
  }

  get #known(): TreeFacts {
    this.#facts ??= this.#parse()
    return this.#facts
  }

  #parse(): TreeFacts {
    const { count, next } = numbersAt(this.bytes, this.name.length + 1)
    return { count, oid: count < 0 ? NO_OID : this.bytes.subarray(next, next + this.hashBytes) }
  }

  #parseSubtrees(): CachedTree[] {
    const { bytes, hashBytes } = this
    const { count, number, next } = numbersAt(bytes, this.name.length + 1)
    const subtrees: CachedTree[] = []
    for (let at = count < 0 ? next : next + hashBytes; subtrees.length < number; ) {
      const end = endOf(bytes, at, hashBytes)
      subtrees.push(CachedTree.#at(bytes.subarray(at, end), hashBytes))
      at = end
    }
    return subtrees
  }
}

/** Says that what is at a path is not what it was: every directory above it has to be made again. */
export function outdate(root: CachedTree, path: Buffer): void {
  let node: CachedTree | undefined = root
  for (let from = 0; node; ) {
    node.outdate()
    const end = path.indexOf(SLASH, from)
    if (end < 0) return
    const name = path.subarray(from, end)
    node = node.subtrees.find((one) => one.name.equals(name))
    from = end + 1
  }
}

/** Where a directory with all below it ends; -1 when it is damaged. */
function endOf(bytes: Buffer, from: number, hashBytes: number): number {
  let at = from
  for (let left = 1; left > 0; left -= 1) {
    const { count, number, next } = numbersAt(bytes, endOfName(bytes, at) + 1)
    if (next < 0) return -1
    left += number
    at = count < 0 ? next : next + hashBytes
  }
  return at <= bytes.length ? at : -1
}

/** Names are short: to look at each byte is faster than to have them searched. */
function endOfName(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0) at += 1
  return at
}

interface Numbers {
  count: number
  number: number
  next: number
}

const NONE: Numbers = { count: -1, number: 0, next: -1 }

/** `<entries> <subtrees>` and a line feed. */
function numbersAt(bytes: Buffer, from: number): Numbers {
  const isNegative = bytes[from] === MINUS
  let [count, number, digits, at] = [0, 0, 0, isNegative ? from + 1 : from]
  for (; isDigit(bytes[at]); at += 1, digits += 1) count = count * 10 + (bytes[at] ?? 0) - ZERO
  if (digits === 0 || bytes[at] !== SPACE) return NONE
  for (at += 1, digits = 0; isDigit(bytes[at]); at += 1, digits += 1) number = number * 10 + (bytes[at] ?? 0) - ZERO
  if (digits === 0 || bytes[at] !== LINE_FEED) return NONE
  return { count: isNegative ? -count : count, number, next: at + 1 }
}

export const SLASH = 0x2f
const MINUS = 0x2d
const SPACE = 0x20
const LINE_FEED = 0x0a
const ZERO = 0x30
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= ZERO + 9
