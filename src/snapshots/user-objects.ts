import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { type IndexDetails, indexDetails } from './index-details.js'
import type { Snapshot } from './snapshot.js'

interface Wanted {
  commits: readonly string[]
  trees: readonly string[]
  blobs: readonly string[]
}

/** What the snapshot's index says beyond its tree. */
export async function detailsOf(store: BareStore, { commit }: Snapshot, git: Git): Promise<IndexDetails> {
  const { code, stdout } = await git.run([...store.at(), 'cat-file', 'blob', `${commit}:details`], { accept: [128] })
  return indexDetails(code === 0 ? stdout.toString() : '{}')
}

/** Gives the user's repository the objects that it has lost since, or never had. Those that its refs lead to are not copied. */
export async function bringObjects(
  git: Git,
  store: BareStore,
  repository: string,
  { commits, trees, blobs }: Wanted,
): Promise<void> {
  // Beside a commit git does not take its tree for known when only a tree is asked for: without the trees it would copy every file.
  const tips = await tipsOf(git, repository)
  const known = await existing(git, store, [...tips, ...tips.slice(0, TREES).map((oid) => `${oid}^{tree}`)])
  const input = [...commits, ...trees, ...blobs, '--not', ...known].map((line) => `${line}\n`).join('')
  const pack = await git.bytes([...store.at(), 'pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'], {
    input,
  })
  const count = pack.readUInt32BE(8)
  if (count === 0) return
  const args = count < FEW ? ['unpack-objects', '-q'] : ['index-pack', '--stdin']
  await git.run(['--git-dir', repository, ...args], { input: pack })
}

/** Of this many newest branches the trees are compared, too. */
const TREES = 50
/** As loose objects, which the user's own gc packs. */
const FEW = 1_000

/** Newest first, unless one of them leads to an object that is not there: then git cannot sort them. */
async function tipsOf(git: Git, repository: string): Promise<string[]> {
  const list = ['--git-dir', repository, 'for-each-ref', '--format=%(objectname)']
  const { code, stdout } = await git.run([...list, '--sort=-committerdate'], { accept: [128] })
  const text = code === 0 ? stdout.toString() : await git.text(list)
  return text.split('\n').filter((oid) => oid !== '')
}

/** Tips that the store can see; others would make git stop. */
async function existing(git: Git, store: BareStore, oids: readonly string[]): Promise<string[]> {
  const lines = await git.text([...store.at(), 'cat-file', '--batch-check=%(objectname)', '--buffer'], {
    input: oids.map((oid) => `${oid}\n`).join(''),
  })
  return lines.split('\n').filter((line) => /^[0-9a-f]+$/.test(line))
}
