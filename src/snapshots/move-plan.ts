import type { BareStore } from './bare-store.js'
import { comparedTrees, type FileChange, readChanges } from './diff.js'
import type { Git } from './git.js'
import type { Snapshot } from './snapshot.js'
import { StoredObjects } from './stored-objects.js'

/** A file that differs between two trees. A side that has no file there is undefined. */
export interface MovedFile {
  /** In latin1. */
  path: string
  before: TreeFile | undefined
  after: TreeFile | undefined
}

interface TreeFile {
  mode: string
  oid: string
}

/** What has to be changed to go from one tree to another. */
export interface MovePlan {
  from: string
  to: string
  files: MovedFile[]
  /** The same, as it is told. */
  changes: FileChange[]
  /** What the files become, by object; undefined when that is too much to be kept in memory. */
  contents: ReadonlyMap<string, Buffer> | undefined
  /** The object with what the user's index said beyond its tree; undefined when there is none, or too much. */
  details: string | undefined
}

/** More than this is written faster by git, with all cores. */
const MOST_FILES = 200
const MOST_BYTES = 8 * 1024 * 1024

/** Compares a tree with that of a snapshot and reads what the files become. Nothing of the worktree is looked at. */
export async function planMove(git: Git, store: BareStore, from: string, snapshot: Snapshot): Promise<MovePlan> {
  const to = snapshot.worktree_tree
  const fields = await comparedTrees(git, store, from, to)
  const files = filesIn(fields)
  const isMuch = files.length > MOST_FILES
  const wanted = isMuch ? [] : [...new Set(files.flatMap(({ after }) => after?.oid ?? []))]
  const read = storedContents(store, snapshot, wanted) ?? (await contentsOf(git, store, snapshot, wanted))
  const { changes } = readChanges(fields, 0)
  return { from, to, files, changes, contents: isMuch ? undefined : read?.contents, details: read?.first }
}

/** `:100644 100755 <oid> <oid> M`, then the path; behind `R100` or `C075` the path that it had and the one that it gets. */
function filesIn(fields: readonly string[]): MovedFile[] {
  const files: MovedFile[] = []
  for (let at = 0; fields[at]?.startsWith(':'); at += 2) {
    const [oldMode = '', mode = '', oldOid = '', oid = '', letter = ''] = (fields[at] ?? '').slice(1).split(' ')
    const side = (own: string, object: string): TreeFile | undefined =>
      own === '000000' ? undefined : { mode: own, oid: object }
    const [before, after, path = ''] = [side(oldMode, oldOid), side(mode, oid), fields[at + 1]]
    if (!/^[RC]/.test(letter)) {
      files.push({ path, before, after })
      continue
    }
    if (letter.startsWith('R')) files.push({ path, before, after: undefined })
    at += 1
    files.push({ path: fields[at + 1] ?? '', before: undefined, after })
  }
  return files
}

class TooMuch extends Error {}

interface ReadObjects {
  contents: Map<string, Buffer>
  /** The name of the object that was asked for first, if it is there. */
  first: string | undefined
}

/** Without starting git. Undefined when one of them is not found that way, or there is too much of them. */
function storedContents(store: BareStore, { commit }: Snapshot, wanted: readonly string[]): ReadObjects | undefined {
  using stored = new StoredObjects(store.directory, store.objects)
  const parts = stored.read(treeOf(stored.read(commit, 'commit')), 'tree')
  if (!parts) return undefined
  const contents = new Map<string, Buffer>()
  let length = 0
  for (const oid of wanted) {
    const content = stored.read(oid, 'blob')
    length += content?.length ?? 0
    if (!content || length > MOST_BYTES) return undefined
    contents.set(oid, content)
  }
  return { contents, first: detailsIn(parts, store.hashBytes) }
}

const treeOf = (commit: Buffer | undefined): string =>
  /^tree ([0-9a-f]+)\n/.exec(commit?.toString('latin1') ?? '')?.[1] ?? ''

/** `<mode> <name>`, a zero byte, the object. */
function detailsIn(tree: Buffer, hashBytes: number): string | undefined {
  for (let at = 0; at < tree.length; ) {
    const end = tree.indexOf(0, at)
    const object = tree.toString('hex', end + 1, end + 1 + hashBytes)
    if (tree.toString('latin1', at, end) === '100644 details') return object
    at = end + 1 + hashBytes
  }
  return undefined
}

async function contentsOf(
  git: Git,
  store: BareStore,
  { commit }: Snapshot,
  wanted: readonly string[],
): Promise<ReadObjects | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  const output = (bytes: Buffer): void => {
    pieces.push(bytes)
    length += bytes.length
    if (length > MOST_BYTES) throw new TooMuch()
  }
  const input = [`${commit}:details`, ...wanted].map((name) => `${name}\n`).join('')
  try {
    await git.run([...store.at(), 'cat-file', '--batch', '--buffer'], { input, output })
  } catch (error) {
    if (error instanceof TooMuch) return undefined
    throw error
  }
  return contentsIn(Buffer.concat(pieces))
}

/** `<oid> blob <size>`, the content, a line feed; or `<name> missing`. What is no file is left out. */
function contentsIn(bytes: Buffer): ReadObjects {
  const contents = new Map<string, Buffer>()
  let first: string | undefined
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    const [, oid, kind, size] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(bytes.toString('latin1', at, end)) ?? []
    if (at === 0) first = oid
    at = end + 1
    if (oid === undefined) continue
    if (kind === 'blob') contents.set(oid, bytes.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return { contents, first }
}
