/** What an index remembers of the tree of one directory. A directory whose entries have changed has no object and no count. */
export interface CachedTree {
  name: Buffer
  /** Entries of the index below it; -1 when it has to be made again. */
  count: number
  oid: string
  subtrees: CachedTree[]
}

/** Reads the extension `TREE` of an index. Undefined when it is damaged. */
export function readCachedTree(bytes: Buffer, hashBytes: number): CachedTree | undefined {
  let at = 0
  const upTo = (byte: number): Buffer | undefined => {
    const end = bytes.indexOf(byte, at)
    if (end < 0) return undefined
    const found = bytes.subarray(at, end)
    at = end + 1
    return found
  }
  const read = (depth: number): CachedTree | undefined => {
    const name = upTo(0)
    const numbers = /^(-?\d+) (\d+)$/.exec(upTo(0x0a)?.toString('latin1') ?? '')
    if (!name || !numbers || depth > MOST_DEPTH) return undefined
    const count = Number(numbers[1])
    const oid = count < 0 ? '' : bytes.toString('hex', at, at + hashBytes)
    if (count >= 0) at += hashBytes
    const subtrees: CachedTree[] = []
    for (let n = Number(numbers[2]); n > 0; n -= 1) {
      const subtree = read(depth + 1)
      if (!subtree) return undefined
      subtrees.push(subtree)
    }
    return { name, count, oid, subtrees }
  }
  const root = read(0)
  return at === bytes.length ? root : undefined
}

export function writeCachedTree(tree: CachedTree): Buffer {
  const parts: Buffer[] = []
  const write = ({ name, count, oid, subtrees }: CachedTree): void => {
    parts.push(name, Buffer.from(`\0${count} ${subtrees.length}\n`), Buffer.from(count < 0 ? '' : oid, 'hex'))
    // Git looks for a name by its length first.
    for (const one of [...subtrees].sort((a, b) => a.name.length - b.name.length || a.name.compare(b.name))) write(one)
  }
  write(tree)
  return Buffer.concat(parts)
}

/** Says that what is at a path is not what it was: every directory above it has to be made again. */
export function outdate(root: CachedTree, path: Buffer): void {
  let node: CachedTree | undefined = root
  for (let from = 0; node; ) {
    node.count = -1
    const end = path.indexOf(SLASH, from)
    if (end < 0) return
    const name = path.subarray(from, end)
    node = node.subtrees.find((one) => one.name.equals(name))
    from = end + 1
  }
}

export const SLASH = 0x2f
/** Deeper than any path of the system. */
const MOST_DEPTH = 2_048
