import { dirname, join, relative } from 'node:path'
import { followed, statOf } from '../disk/index.js'
import { BareStore } from './bare-store.js'
import { type Writer, writersOf } from './blame/file-versions.js'
import { changesBetween } from './diff.js'
import type { Git } from './git.js'
import { refusePipes } from './readable-repository.js'
import { findRepository } from './repository.js'
import { type Snapshot, shown } from './snapshot.js'

/** Who changed a path, as far as snapshots tell. */
export interface PathTouches {
  /** In whose turns it changed; where several worked in one directory at the time, all of them. */
  sessions: string[]
  /** Sessions whose turns were captured where the path is: of others the snapshots say nothing. */
  captured: string[]
  /** The worktree that it is in; absent outside a repository. */
  root?: string
}

/** Earlier names of a file that are followed. */
const MOST_NAMES = 20

/** The sessions in whose turns a file changed, or anything in a directory, also under the names that the file had before. */
export async function sessionsTouching(
  { git, snapshots: directory }: { git: Git; snapshots: string },
  given: string,
  of: (store: string) => Promise<Snapshot[]>,
): Promise<PathTouches> {
  const { store, path, root } = placeOf(directory, given, git)
  const known = root === undefined ? {} : { root }
  if (!store || path.includes('\n')) return { sessions: [], captured: [], ...known }
  const all = (await of(store.name)).sort((a, b) => Date.parse(a.as_of) - Date.parse(b.as_of) || a.seq - b.seq)
  const sessions = new Set<string>()
  for (const root of new Set(all.map((one) => one.root))) {
    const here = all.filter((one) => one.root === root)
    for (const writer of await writersOfPath(git, store, here, path))
      if (writer.kind === 'turn') for (const session of [writer.session, ...writer.beside]) sessions.add(session)
  }
  return { sessions: [...sessions], captured: [...new Set(all.map(({ session }) => session))], ...known }
}

/** The path may be gone: what is above it may still be there. `path` is relative to the root, in bytes. */
function placeOf(
  directory: string,
  given: string,
  git: Git,
): { store?: BareStore | undefined; path: string; root?: string | undefined } {
  let above = given
  while (!statOf(above) && dirname(above) !== above) above = dirname(above)
  const full = join(followed(above), relative(above, given))
  const repository = findRepository(statOf(above)?.isDirectory() ? above : dirname(above))
  if (repository) refusePipes([repository.gitDirectory, repository.commonDirectory])
  const isOurs = ({ facts: { source } }: BareStore): boolean =>
    repository ? source === repository.commonDirectory : full === source || full.startsWith(`${source}/`)
  const store = BareStore.all(directory, git).find(isOurs)
  const root = repository?.root ?? store?.facts.source
  return { store, path: Buffer.from(relative(root ?? '/', full)).toString('latin1'), root }
}

/** Asked backwards: the name is known at the end, and a file that appears may have had another one before. */
async function writersOfPath(
  git: Git,
  store: BareStore,
  snapshots: readonly Snapshot[],
  path: string,
): Promise<Writer[]> {
  const writers = writersOf(snapshots)
  const found: Writer[] = []
  let objects = await objectsAt(git, store, snapshots, path)
  let name = path
  let left = MOST_NAMES
  for (let at = snapshots.length - 1; at > 0; at -= 1) {
    if (objects[at] === objects[at - 1]) continue
    found.push(writers[at] as Writer)
    if (objects[at - 1] !== undefined || !objects[at]?.startsWith('blob') || left === 0) continue
    const trees = [snapshots[at - 1], snapshots[at]].map((one) => one?.worktree_tree ?? '') as [string, string]
    const from = (await changesBetween(git, store, ...trees)).find((one) => one.path === shown(name))?.from
    if (from === undefined || from.includes('\n')) continue
    name = Buffer.from(from).toString('latin1')
    objects = await objectsAt(git, store, snapshots, name)
    left -= 1
  }
  return found
}

/** What has that name in each snapshot: a file, a directory, or nothing. One process for all. */
async function objectsAt(
  git: Git,
  store: BareStore,
  snapshots: readonly Snapshot[],
  path: string,
): Promise<(string | undefined)[]> {
  const input = Buffer.from(snapshots.map(({ worktree_tree }) => `${worktree_tree}:${path}\n`).join(''), 'latin1')
  const format = '--batch-check=%(objecttype) %(objectname)'
  const lines = await git.text([...store.at(), 'cat-file', format, '--buffer'], { input })
  return lines.split('\n').map((line) => (/^(?:blob|tree) [0-9a-f]+$/.test(line) ? line : undefined))
}
