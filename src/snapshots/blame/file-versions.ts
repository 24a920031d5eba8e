import { SkeinError } from '../../model/index.js'
import type { BareStore } from '../bare-store.js'
import { changesBetween, type FileChange } from '../diff.js'
import type { Git } from '../git.js'
import { type Snapshot, shown } from '../snapshot.js'

/** Who changed a file between two snapshots of a worktree. */
export type Writer =
  /**
   * A turn that was under way; `beside` are others that were at the same time. `since`: there is no snapshot of its beginning, so that it may
   * have been another turn of the session, or a person, since then.
   */
  | { kind: 'turn'; session: string; begun: Snapshot; beside: string[]; since?: string }
  /** Nobody of ours: a person, or a program that a person ran. */
  | { kind: 'edit' }

/** What a file became, as the first snapshot that has it so shows it. */
export interface FileVersion {
  root: string
  path: string
  blob: string
  snapshot: Snapshot
  writer: Writer
  /** No snapshot of the worktree is older. */
  isFirst: boolean
  /** HEAD moved with it, so that lines may come from commits or from another worktree. */
  isHeadMoved: boolean
}

/** The versions of a file in one worktree, oldest first. `path` is its name now, in bytes; it is followed through renames. */
export async function versionsIn(
  git: Git,
  store: BareStore,
  snapshots: readonly Snapshot[],
  path: string,
): Promise<FileVersion[]> {
  const writers = writersOf(snapshots)
  const found: FileVersion[] = []
  for (const { at, path: name, blob } of await blobsOf(git, store, snapshots, path)) {
    const snapshot = snapshots[at] as Snapshot
    const before = found.at(-1)
    if (before?.blob === blob && before.path === name) continue
    const isHeadMoved = snapshot.head !== snapshots[at - 1]?.head
    const writer = behindPrompt(snapshot, snapshots[at - 1], name) ?? (writers[at] as Writer)
    found.push({ root: snapshot.root, path: name, blob, snapshot, writer, isFirst: at === 0, isHeadMoved })
  }
  return found
}

interface Placed {
  at: number
  path: string
  blob: string
}

/** Where the file is in each snapshot, oldest first. Asked backwards: its name is known at the end. */
async function blobsOf(git: Git, store: BareStore, snapshots: readonly Snapshot[], path: string): Promise<Placed[]> {
  const placed: Placed[] = []
  let name = path
  let blobs = await blobsAt(git, store, snapshots, name)
  for (let at = snapshots.length - 1; at >= 0; at -= 1) {
    const blob = blobs[at]
    if (blob !== undefined) placed.push({ at, path: name, blob })
    else if (placed.at(-1)?.at === at + 1) {
      const from = renamedFrom(await treeChanges(git, store, snapshots, at), name)
      if (from === undefined) continue
      name = from
      blobs = await blobsAt(git, store, snapshots.slice(0, at + 1), name)
      at += 1 // this one again, under its older name
    }
  }
  return placed.reverse()
}

const treeChanges = (git: Git, store: BareStore, snapshots: readonly Snapshot[], at: number): Promise<FileChange[]> =>
  changesBetween(git, store, snapshots[at]?.worktree_tree ?? '', snapshots[at + 1]?.worktree_tree ?? '')

/** The older name of a file that is renamed among these. Both names are bytes. */
export function renamedFrom(changes: readonly FileChange[], path: string): string | undefined {
  const from = changes.find((change) => change.status === 'renamed' && change.path === shown(path))?.from
  return from === undefined ? undefined : Buffer.from(from).toString('latin1')
}

/** The regular file of that name in each snapshot; undefined where there is none. One process for all. */
async function blobsAt(
  git: Git,
  store: BareStore,
  snapshots: readonly Snapshot[],
  path: string,
): Promise<(string | undefined)[]> {
  if (path.includes('\n'))
    throw new SkeinError('bad-input', 'A file with a line break in its name has no blame', 'Rename it')
  const input = Buffer.from(snapshots.map(({ worktree_tree }) => `${worktree_tree}:${path}\n`).join(''), 'latin1')
  const lines = await git.text([...store.at(), 'cat-file', '--batch-check=%(objecttype) %(objectname)', '--buffer'], {
    input,
  })
  return lines.split('\n').map((line) => /^blob ([0-9a-f]+)$/.exec(line)?.[1])
}

/** Who changed files before each snapshot of a worktree: whose turns were under way since the one before. */
export function writersOf(snapshots: readonly Snapshot[]): Writer[] {
  const open = new Map<string, Snapshot>()
  return snapshots.map((snapshot, at) => {
    const { session, moment } = snapshot
    const writer = writerAmong(open, snapshot, snapshots[at - 1])
    if (moment === 'prompt') open.set(session, snapshot)
    if (moment === 'stop') open.delete(session)
    return writer
  })
}

function writerAmong(open: ReadonlyMap<string, Snapshot>, snapshot: Snapshot, before: Snapshot | undefined): Writer {
  const { session, moment } = snapshot
  const own = moment === 'stop' ? open.get(session) : undefined
  const begun = own ?? [...open.values()].at(-1)
  if (!begun && before && moment === 'stop' && !isSameEnd(before, snapshot))
    return { kind: 'turn', session, begun: snapshot, beside: [], since: before.as_of }
  if (!begun) return { kind: 'edit' }
  return {
    kind: 'turn',
    session: begun.session,
    begun,
    beside: [...open.keys()].filter((one) => one !== begun.session),
  }
}

/** A snapshot of a prompt that was taken late shows some files as the turn has made them; what it shows of the others was there before. */
function behindPrompt(snapshot: Snapshot, before: Snapshot | undefined, path: string): Writer | undefined {
  const { session, moment, late } = snapshot
  if (moment !== 'prompt' || !late.includes(shown(path))) return undefined
  return { kind: 'turn', session, begun: snapshot, beside: [], since: (before ?? snapshot).as_of }
}

/** The end of a turn is captured again where a daemon that was killed may not have captured it. */
const isSameEnd = (before: Snapshot, { session, seq }: Snapshot): boolean =>
  before.session === session && before.moment === 'stop' && before.seq === seq - 1

/** Who removed a file from one worktree, and the first snapshot without it; undefined where it still is, or never was. */
export async function removalIn(
  git: Git,
  store: BareStore,
  snapshots: readonly Snapshot[],
  path: string,
): Promise<Pick<FileVersion, 'snapshot' | 'writer' | 'isFirst'> | undefined> {
  const last = (await blobsAt(git, store, snapshots, path)).findLastIndex((blob) => blob !== undefined)
  const [snapshot, writer] = [snapshots[last + 1], writersOf(snapshots)[last + 1]]
  return last < 0 || !snapshot || !writer ? undefined : { snapshot, writer, isFirst: false }
}
