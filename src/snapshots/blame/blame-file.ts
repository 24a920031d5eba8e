import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { readGuarded } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import { changesBetween } from '../diff.js'
import type { Git } from '../git.js'
import { refusePipes } from '../readable-repository.js'
import { findRepository, headOf, type Repository } from '../repository.js'
import { type Snapshot, shown } from '../snapshot.js'
import { blamedLines } from './blamed-lines.js'
import { type FileVersion, renamedFrom, versionsIn } from './file-versions.js'
import type { BlamedLine } from './line-origins.js'
import { TurnCommits } from './turn-commits.js'

export interface FileBlame {
  root: string
  /** Relative to the root. */
  path: string
  lines: BlamedLine[]
}

/** Longer files are no text that somebody reads. */
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Who wrote each line of a file as it is now. The versions of the file in the snapshots become a history of its own, in a scratch
 * repository that borrows the objects of the store, and git's own blame walks through it and on into the user's commits.
 */
export async function blameFile(
  { git, snapshots: directory }: { git: Git; snapshots: string },
  given: string,
  of: (store: string) => Promise<Snapshot[]>,
): Promise<FileBlame> {
  const { file, content } = contentOf(given)
  const place = storeOf(directory, file, git)
  if (!place) throw nothingKnown(file)
  const { store, root } = place
  const path = Buffer.from(relative(root, file)).toString('latin1')
  const all = (await of(store.name)).sort(byTime)
  if (all.length === 0) throw nothingKnown(file)
  const versions: FileVersion[] = []
  for (const one of new Set(all.map((snapshot) => snapshot.root))) {
    const inRoot = all.filter((snapshot) => snapshot.root === one)
    const named = await versionsIn(git, store, inRoot, path)
    const from = named.length > 0 ? undefined : await renamedSince(git, place, inRoot.at(-1), path)
    const earlier = from === undefined ? [] : await versionsIn(git, store, inRoot, from)
    // Under its present name: of two beginnings of a file git takes the one that has its name, which would be the commit of the renaming.
    versions.push(...named, ...earlier.map((one) => (one.path === from ? { ...one, path } : one)))
  }
  versions.sort((a, b) => byTime(a.snapshot, b.snapshot))
  const turns = new TurnCommits(all)
  const asked = { root, path, content: { bytes: content }, ...(await movedSince(git, place, all)) }
  const scratch = mkdtempSync(join(tmpdir(), 'skein-blame-'))
  try {
    makeBorrower(scratch, store, 'ref: refs/heads/none', { bare: true })
    return { root, path: shown(path), lines: await blamedLines(git, scratch, { asked, versions, turns }) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The file itself where a link is named, and what it has. */
function contentOf(given: string): { file: string; content: Buffer } {
  try {
    const file = realpathSync(given)
    return { file, content: readGuarded(file, { mostBytes: MOST_BYTES }) }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const what = isMissing ? 'does not exist' : `cannot be read: ${(error as Error).message}`
    throw new SkeinError('bad-input', `${given} ${what}`, 'Name a file of text')
  }
}

interface Place {
  store: BareStore
  root: string
  repository: Repository | undefined
}

function storeOf(directory: string, file: string, git: Git): Place | undefined {
  const repository = findRepository(join(file, '..'))
  for (const store of BareStore.all(directory, git)) {
    if (store.facts.source === repository?.commonDirectory) {
      refusePipes([repository.gitDirectory, repository.commonDirectory])
      return { store, root: repository.root, repository }
    }
    if (!repository && file.startsWith(`${store.facts.source}/`)) return { store, root: store.facts.source, repository }
  }
  return undefined
}

/** What the file may come from if HEAD has moved since the last snapshot of its worktree: git may have brought it. */
async function movedSince(
  git: Git,
  { repository, root }: Place,
  snapshots: readonly Snapshot[],
): Promise<{ fromAny: boolean; commits: string[] }> {
  const head = repository && (await headOf(repository, git)).commit
  const last = snapshots.findLast((one) => one.root === root)
  const isMoved = head !== undefined && head !== last?.head
  return { fromAny: isMoved, commits: isMoved ? [head] : [] }
}

/** The name that the last snapshot has the file under, where it was renamed and committed since. */
async function renamedSince(
  git: Git,
  { store, repository }: Place,
  last: Snapshot | undefined,
  path: string,
): Promise<string | undefined> {
  const head = repository && (await headOf(repository, git)).commit
  if (head === undefined || !last || head === last.head) return undefined
  const tree = await git.text([...store.at(), 'rev-parse', '--verify', '--quiet', `${head}^{tree}`], {
    accept: [1, 128],
  })
  return tree === '' ? undefined : renamedFrom(await changesBetween(git, store, last.worktree_tree, tree), path)
}

const nothingKnown = (file: string): SkeinError =>
  new SkeinError(
    'snapshot-not-found',
    `No turn was captured in the repository of ${file}`,
    'Turns are captured while the daemon runs: skein daemon start',
  )

export const byTime = (a: Snapshot, b: Snapshot): number =>
  compare(a.as_of, b.as_of) || compare(a.at, b.at) || a.seq - b.seq
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
