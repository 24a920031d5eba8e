interface TreeFacts {
  name: Buffer
  /** Entries of the index below it; -1 when it has to be made again. */
  count: number
  oid: string
  subtrees: CachedTree[]
}

/**
 * What an index remembers of the tree of one directory. A directory whose entries have changed has no object and no count. What is below one is
 * read when somebody asks, and written as it was read: there are thousands, and a snapshot changes a few.
 */
export class CachedTree {
  #facts: TreeFacts | undefined
  /** This directory and all below it, as they were read. */
  #bytes: Buffer | undefined

  private constructor(
    readonly name: Buffer,
    private readonly hashBytes: number,
  ) {}

  /** Reads the extension `TREE` of an index. Undefined when it is damaged. */
  static read(bytes: Buffer, hashBytes: number): CachedTree | undefined {
    return endOf(bytes, 0, hashBytes) === bytes.length ? CachedTree.#at(bytes, hashBytes) : undefined
  }

  /** Of a directory that is new. */
  static unknown(name: Buffer, hashBytes: number): CachedTree {
    const tree = new CachedTree(name, hashBytes)
    tree.#facts = { name, count: -1, oid: '', subtrees: [] }
    return tree
  }

  static #at(bytes: Buffer, hashBytes: number): CachedTree {
    const tree = new CachedTree(bytes.subarray(0, bytes.indexOf(0)), hashBytes)
    tree.#bytes = bytes
    return tree
  }

  get count(): number {
    return this.#known.count
  }

  get oid(): string {
    return this.#known.oid
  }

  get subtrees(): readonly CachedTree[] {
    return this.#known.subtrees
  }

  /** Says that something in it is not what it was. */
  outdate(): void {
    this.#known.count = -1
    this.#bytes = undefined
  }

  set({ count, oid, subtrees }: Omit<TreeFacts, 'name'>): void {
    this.#facts = { name: this.name, count, oid, subtrees }
    this.#bytes = undefined
  }

  writeTo(parts: Buffer[]): void {
    if (this.#bytes) {
      parts.push(this.#bytes)
      return
    }
    const { name, count, oid, subtrees } = this.#known
    parts.push(name, Buffer.from(`\0${count} ${subtrees.length}\n`), Buffer.from(count < 0 ? '' : oid, 'hex'))
    // Git looks for a name by its length first.
    const sorted = [...subtrees].sort((a, b) => a.name.length - b.name.length || a.name.compare(b.name))
    for (const one of sorted) one.writeTo(parts)
  }

  get #known(): TreeFacts {
    this.#facts ??= this.#parse()
    return this.#facts
  }

  #parse(): TreeFacts {
    const { name, hashBytes } = this
    const bytes = this.#bytes ?? Buffer.alloc(0)
    const { count, number, next } = numbersAt(bytes, name.length + 1)
    const oid = count < 0 ? '' : bytes.toString('hex', next, next + hashBytes)
    const subtrees: CachedTree[] = []
    for (let at = count < 0 ? next : next + hashBytes; subtrees.length < number; ) {
      const end = endOf(bytes, at, hashBytes)
      subtrees.push(CachedTree.#at(bytes.subarray(at, end), hashBytes))
      at = end
    }
    return { name, count, oid, subtrees }
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
    const name = bytes.indexOf(0, at)
    const { count, number, next } = name < 0 ? NONE : numbersAt(bytes, name + 1)
    if (next < 0) return -1
    left += number
    at = count < 0 ? next : next + hashBytes
  }
  return at <= bytes.length ? at : -1
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
