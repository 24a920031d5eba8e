import { statfsSync } from 'node:fs'
import { SkeinError } from '../model/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'

/** More than any worktree that is captured: a capture has limits of its own. */
const MOST_FILES = 2_000_000
const MOST_DEPTH = 1_000
const GB = 1_000_000_000
/** Unless the user allows more. */
const MOST_GB = 8
/** What even an empty file takes. */
const FILE_BYTES = 4_096

/** What unfolded code may take. */
export interface CodeLimit {
  mostGb?: number | undefined
  /** Where its files will be. */
  root: string
  /** What becomes files. The other trees are only kept. */
  files: string
}

interface Weight {
  files: number
  bytes: number
}

/**
 * Refuses trees that would fill the disk. A few objects can name one another so that they unfold to any number of files: each tree is
 * read once, and its weight is that of its entries, so nothing has to be unfolded to find out.
 */
export async function refuseBomb(
  git: Git,
  store: BareStore,
  trees: readonly string[],
  { mostGb = MOST_GB, root, files: unfolded }: CodeLimit,
): Promise<void> {
  const sizes = await blobSizes(git, store)
  const weights = new Map<string, Weight>()
  let level = [...new Set(trees)]
  const children = new Map<string, TreeLine[]>()
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH) throw bomb(`directories ${depth} levels deep`)
    for (const [tree, lines] of await treeLines(git, store, level)) children.set(tree, lines)
    const next = level.flatMap((tree) => (children.get(tree) ?? []).filter(isTree).map(({ oid }) => oid))
    level = [...new Set(next)].filter((oid) => !children.has(oid))
  }
  const weigh = (tree: string): Weight => {
    const known = weights.get(tree)
    if (known) return known
    const sum: Weight = { files: 0, bytes: 0 }
    for (const line of children.get(tree) ?? []) {
      const one = isTree(line) ? weigh(line.oid) : { files: 1, bytes: sizes.get(line.oid) ?? 0 }
      sum.files += one.files
      sum.bytes += one.bytes
    }
    weights.set(tree, sum)
    return sum
  }
  for (const tree of trees) {
    const { files, bytes } = weigh(tree)
    if (files > MOST_FILES) throw bomb(`more than ${MOST_FILES} files`)
    if (bytes > mostGb * GB) throw tooLarge(bytes, mostGb)
  }
  const { files, bytes } = weigh(unfolded)
  const { bavail, bsize } = statfsSync(root)
  if (bytes + files * FILE_BYTES > bavail * bsize)
    throw new SkeinError(
      'disk-full',
      `The code in the pack takes ${gigabytes(bytes)}; the disk of ${root} has ${gigabytes(bavail * bsize)} left`,
      'Free some space, or choose a directory on another disk: --into <directory>',
    )
}

interface TreeLine {
  mode: string
  oid: string
}

const isTree = ({ mode }: TreeLine): boolean => mode === '40000'

async function blobSizes(git: Git, store: BareStore): Promise<Map<string, number>> {
  const format = '--batch-check=%(objecttype) %(objectname) %(objectsize)'
  const printed = await git.text([...store.at(), 'cat-file', '--batch-all-objects', '--unordered', '--buffer', format])
  return new Map(
    printed.split('\n').flatMap((line) => {
      const [kind, oid = '', size] = line.split(' ')
      return kind === 'blob' ? [[oid, Number(size)] as const] : []
    }),
  )
}

async function treeLines(git: Git, store: BareStore, trees: readonly string[]): Promise<Map<string, TreeLine[]>> {
  const input = trees.map((tree) => `${tree}\n`).join('')
  const printed = await git.bytes([...store.at(), 'cat-file', '--batch', '--buffer'], { input })
  const found = new Map<string, TreeLine[]>()
  for (let at = 0; at < printed.length; ) {
    const end = printed.indexOf('\n', at)
    const [oid = '', kind, size] = printed.toString('latin1', at, end).split(' ')
    if (kind !== 'tree') throw bomb('a directory that is none')
    const content = printed.subarray(end + 1, end + 1 + Number(size))
    found.set(oid, entriesOf(content, oid.length / 2))
    at = end + 1 + Number(size) + 1
  }
  return found
}

function entriesOf(content: Buffer, hashBytes: number): TreeLine[] {
  const lines: TreeLine[] = []
  for (let at = 0; at < content.length; ) {
    const name = content.indexOf(' ', at)
    const end = content.indexOf('\0', name)
    if (name < 0 || end < 0) break
    lines.push({
      mode: content.toString('latin1', at, name),
      oid: content.toString('hex', end + 1, end + 1 + hashBytes),
    })
    at = end + 1 + hashBytes
  }
  return lines
}

const bomb = (what: string): SkeinError =>
  new SkeinError('snapshot-refused', `The code in the pack unfolds to ${what}`, 'Ask whoever sent it for another pack')

const gigabytes = (bytes: number): string =>
  bytes > 1_000_000 * GB ? 'more than a million GB' : `${(bytes / GB).toFixed(2)} GB`

const tooLarge = (bytes: number, mostGb: number): SkeinError =>
  new SkeinError(
    'snapshot-refused',
    `The code in the pack unfolds to ${gigabytes(bytes)}, more than ${mostGb} GB`,
    bytes > 1_000_000 * GB
      ? 'Ask whoever sent it for another pack'
      : `If you trust whoever sent it: --max-gb ${Math.ceil(bytes / GB)}`,
  )
