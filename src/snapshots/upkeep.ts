import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { entriesIn, isThere, namesIn, removeRemains } from '../disk/index.js'
import { filesUnder } from '../erasure/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { pinObjects, unpinOrphans } from './pins.js'
import type { SnapshotRecord } from './snapshot.js'
import { stateDirectory } from './worktree-state.js'

export interface StoreStats {
  store: string
  /** The repository or directory that it is for, and whether that is still there. */
  source: string
  is_source_there: boolean
  sessions: number
  snapshots: number
  /** What the store takes on the disk. */
  bytes: number
  /** Of object files that the user's repository has, too. */
  shared_bytes: number
  loose_objects: number
}

export function statsOf(store: BareStore, records: readonly SnapshotRecord[]): StoreStats {
  let [bytes, shared, loose] = [0, 0, 0]
  for (const path of filesUnder(store.directory)) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat) continue
    if (stat.nlink > 1) shared += stat.blocks * 512
    else bytes += stat.blocks * 512
    if (stat.nlink === 1 && /\/objects\/[0-9a-f]{2}\/[0-9a-f]+$/.test(path)) loose += 1
  }
  return {
    store: store.name,
    source: store.facts.source,
    is_source_there: isThere(store.facts.source),
    sessions: new Set(records.map(({ session }) => session)).size,
    snapshots: records.length,
    bytes,
    shared_bytes: shared,
    loose_objects: loose,
  }
}

/** About how many loose objects make packing worth its time. */
const MANY_LOOSE = 2_000

/** A capture that changed something makes one; git looks for an object in each of them. */
const MANY_PACKS = 200

/** Loose objects are guessed from a few of the 256 directories, as git does. */
export function isDue({ directory }: BareStore): boolean {
  const sample = ['11', '5a', 'a3', 'ee']
  const count = sample.reduce((sum, fan) => sum + ownIn(join(directory, 'objects', fan)), 0)
  if (count * (256 / sample.length) > MANY_LOOSE) return true
  const names = new Set(entriesIn(join(directory, 'objects', 'pack')))
  const own = [...names].filter((name) => name.endsWith('.idx') && !names.has(name.replace(/idx$/, 'keep')))
  return own.length > MANY_PACKS
}

const ownIn = (directory: string): number =>
  entriesIn(directory).filter((name) => lstatSync(join(directory, name), { throwIfNoEntry: false })?.nlink === 1).length

/**
 * Packs what the store has of its own and drops what no snapshot needs. Holds of the user's packs stay; of those that the user no longer
 * has, only what snapshots need is kept. Called with the store's lock.
 */
export async function collect(
  git: Git,
  store: BareStore,
  records: readonly SnapshotRecord[],
  nowMs: number,
): Promise<void> {
  const { directory, facts } = store
  for (const path of filesUnder(join(directory, 'refs'))) if (isHalfRef(path)) rmSync(path, { force: true })
  await dropRefs(git, store, await idleRefs(store, records))
  if (isThere(join(facts.source, 'objects'))) {
    const pinned = pinObjects(directory, facts.source, nowMs)
    if (pinned === 'elsewhere') return // our copies are also the user's: repacking would drop them
    if (pinned === 'pinned') unpinOrphans(directory, facts.source)
  }
  await repack(git, store)
  removeRemains(stateDirectory(directory), nowMs)
  const packs = join(directory, 'objects', 'pack')
  for (const name of halfPacks(namesIn(packs))) rmSync(join(packs, name), { force: true })
}

/** What a killed process of an earlier version has left. */
const isHalfRef = (path: string): boolean => /\.tmp-\d+$/.test(path)

/** What a killed process has left. A pack of the user's gets its index with the next capture. */
function halfPacks(names: readonly string[]): string[] {
  const isHalf = (name: string): boolean =>
    name.endsWith('.pack') && !['.idx', '.keep'].some((ending) => names.includes(name.replace(/\.pack$/, ending)))
  return names.filter((name) => name.startsWith('tmp_') || name.startsWith('.tmp-') || isHalf(name))
}

/** One pack of what the store has of its own, without what no ref leads to. */
export async function repack(git: Git, store: BareStore): Promise<void> {
  await git.run([...store.at(), 'pack-refs', '--all', '--prune'])
  await git.run([...store.at(), 'repack', '-a', '-d', '-l', '-n', '-q', '--threads=1'])
  await git.run([...store.at(), 'prune', '--expire=now'])
}

/** Commits of the user that no snapshot refers to, and worktrees that are gone. */
async function idleRefs(store: BareStore, records: readonly SnapshotRecord[]): Promise<string[]> {
  const heads = new Set(records.map(({ head }) => head))
  const bases = (await store.commits('refs/bases')).filter(({ commit }) => !heads.has(commit))
  return bases.map(({ ref }) => ref)
}

export async function dropRefs(git: Git, store: BareStore, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return
  await git.run([...store.at(), 'update-ref', '--stdin'], { input: refs.map((ref) => `delete ${ref}\n`).join('') })
}

export interface StoreCheck {
  store: string
  /** What git found, as it says it. */
  problems: string[]
  /** Snapshots that cannot be restored. */
  broken: { session: string; seq: number }[]
}

/** Checks that every object of every snapshot is there. `full` also reads and hashes each of them. */
export async function verify(
  git: Git,
  store: BareStore,
  snapshots: readonly { commit: string; session: string; seq: number }[],
  { full }: { full: boolean },
): Promise<StoreCheck> {
  const args = ['fsck', '--no-dangling', '--no-progress', ...(full ? ['--full'] : ['--connectivity-only'])]
  const { code, stdout, stderr } = await git.run([...store.at(), ...args], { accept: FAILED })
  if (code === 0) return { store: store.name, problems: [], broken: [] }
  const broken: StoreCheck['broken'] = []
  for (const { commit, session, seq } of snapshots) {
    const listed = await git.run([...store.at(), 'rev-list', '--objects', '--missing=print', commit], {
      accept: FAILED,
    })
    if (listed.code !== 0 || /^\?/m.test(listed.stdout.toString('latin1'))) broken.push({ session, seq })
  }
  const problems = `${stdout.toString()}${stderr}`.split('\n').filter((line) => line !== '')
  return { store: store.name, problems: problems.slice(0, 20), broken }
}

const FAILED = Array.from({ length: 128 }, (_, n) => n + 1)
