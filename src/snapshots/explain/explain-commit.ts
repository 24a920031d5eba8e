import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { statOf } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { byTime } from '../blame/blame-file.js'
import { blamedLines } from '../blame/blamed-lines.js'
import { type FileVersion, removalIn, versionsIn } from '../blame/file-versions.js'
import { type LineOrigin, writtenBy } from '../blame/line-origins.js'
import { TurnCommits } from '../blame/turn-commits.js'
import { makeBorrower, makeReader } from '../borrower.js'
import { type Git, GitStopped } from '../git.js'
import { headsIn } from '../head-moves.js'
import { patchIds } from '../made-commits.js'
import { refusePipes } from '../readable-repository.js'
import { findRepository, type Repository } from '../repository.js'
import { type Snapshot, shown } from '../snapshot.js'
import { knownSnapshots } from './known-snapshots.js'
import { removedLines } from './removed-lines.js'
import {
  type ChangedFile,
  changedFiles,
  commitFacts,
  type Hunk,
  hunksOf,
  type Reader,
  resolveCommit,
  type UserCommit,
} from './user-commit.js'

/** A file of a commit, with the origin of each line that the commit added. */
export interface ExplainedFile {
  path: string
  from?: string
  status: ChangedFile['status']
  kind: ChangedFile['kind']
  added?: number
  removed?: number
  hunks: Hunk[]
  /** Who wrote each line that it added, by its number, and who removed each that it removed, by the number that it had. */
  origins: Map<number, LineOrigin>
  removals: Map<number, LineOrigin>
  /** Who wrote a binary file as it is, and who removed a file. */
  whole?: LineOrigin
  /** Why nobody was looked for: there are too many files, it is too large, or the time was up. */
  left_out?: 'count' | 'size' | 'time'
}

export interface CommitExplanation {
  root: string
  commit: UserCommit
  /** What it is compared with: its first parent. Absent for the first commit of a repository. */
  base?: string
  files: ExplainedFile[]
  /** What it was before it was amended, rebased or cherry-picked, and what became of it: commits with the same author and time. */
  kin: UserCommit[]
  /** Those that may tell of it: up to the commit, and the end of the turn in which it was made. */
  snapshots: Snapshot[]
}

export interface ExplainLimits {
  /** So many files are looked into. */
  mostFiles: number
  budgetMs: number
}

const EXPLAIN_LIMITS: ExplainLimits = { mostFiles: 500, budgetMs: 60_000 }
const MOST_LINES = 200_000
const NOTHING = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
}

const MOST_HEADS = 5_000

interface Setting {
  git: Git
  snapshots: string
}

interface Question {
  directory: string
  rev: string
  of: (store: string) => Promise<Snapshot[]>
  limits?: Partial<ExplainLimits>
}

/**
 * Where the lines of a commit come from. It is asked of the snapshots that were there when it was made, by content alone: it makes no difference who made the
 * commit, and whether it was squashed, amended, rebased or cherry-picked since.
 */
export async function explainCommit(
  { git, snapshots: directory }: Setting,
  question: Question,
): Promise<CommitExplanation> {
  const repository = repositoryOf(question.directory)
  const store = BareStore.all(directory, git).find(({ facts }) => facts.source === repository.commonDirectory)
  const id = await resolveCommit(git, repository, store, question.rev)
  const limits = { ...EXPLAIN_LIMITS, ...question.limits }
  const scratch = mkdtempSync(join(tmpdir(), 'skein-explain-'))
  try {
    if (store) makeBorrower(scratch, store, 'ref: refs/heads/none', { bare: true })
    else makeReader(scratch, repository)
    const reader = { at: (): string[] => ['--git-dir', scratch] }
    const [commit] = await commitFacts(git, reader, [id])
    if (!commit) throw new SkeinError('git-failed', `${id.slice(0, 8)} cannot be read`, 'Run `git fsck`')
    const base = await baseOf(git, reader, commit)
    const signal = limits.budgetMs > 0 ? AbortSignal.timeout(limits.budgetMs) : AbortSignal.abort()
    const changed = await changedFiles(git, reader, base ?? NOTHING[repository.objectFormat], id, signal)
    const snapshots = store ? knownSnapshots((await question.of(store.name)).sort(byTime), commit) : []
    const asked = {
      git,
      scratch,
      store,
      snapshots,
      turns: new TurnCommits(snapshots),
      commit,
      signal,
      nameIn: namesIn(git, reader, id, signal),
    }
    const files: ExplainedFile[] = []
    for (const [at, file] of changed.entries())
      files.push(at < limits.mostFiles ? await explained(asked, file) : { ...plain(file), left_out: 'count' })
    const kin = await kinOf(git, reader, commit, [
      ...headsIn(repository.gitDirectory, MOST_HEADS),
      ...headsOf(snapshots),
    ])
    return { root: repository.root, commit, ...(base === undefined ? {} : { base }), files, kin, snapshots }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function repositoryOf(directory: string): Repository {
  const repository = statOf(directory)?.isDirectory() ? findRepository(directory) : undefined
  if (!repository)
    throw new SkeinError('bad-input', `${directory} is in no git repository`, 'Name one with --repository <directory>')
  refusePipes([repository.gitDirectory, repository.commonDirectory])
  return repository
}

/** A clone may lack the parent; then what the commit changed is not known. */
async function baseOf(
  git: Git,
  reader: Reader,
  { commit, parents: [parent] }: UserCommit,
): Promise<string | undefined> {
  if (parent === undefined) return undefined
  if ((await commitFacts(git, reader, [parent])).length > 0) return parent
  const message = `The parent of ${commit.slice(0, 8)} is not in the repository: the clone is shallow`
  throw new SkeinError('bad-input', message, 'Run `git fetch --unshallow`, then try again')
}

const headsOf = (snapshots: readonly Snapshot[]): string[] =>
  [...new Set(snapshots.flatMap(({ head }) => head ?? []))].slice(-MOST_HEADS)

/** Whatever rewrites a commit keeps who wrote it and when, and most often either its subject or its change. */
async function kinOf(git: Git, reader: Reader, of: UserCommit, heads: readonly string[]): Promise<UserCommit[]> {
  const alike = (await commitFacts(git, reader, [...new Set(heads)])).filter(
    ({ commit, author_email, authored_at }) =>
      commit !== of.commit && author_email === of.author_email && authored_at === of.authored_at,
  )
  const others = alike.filter(({ summary }) => summary !== of.summary)
  const ids =
    others.length === 0
      ? undefined
      : await patchIds(
          git,
          reader,
          [of, ...others].map(({ commit }) => ({ oid: commit })),
        )
  const own = ids?.get(of.commit)
  return alike.filter(
    ({ commit, summary }) => summary === of.summary || (own !== undefined && ids?.get(commit) === own),
  )
}

export interface Asked {
  git: Git
  scratch: string
  store: BareStore | undefined
  snapshots: readonly Snapshot[]
  turns: TurnCommits
  commit: UserCommit
  signal: AbortSignal
  nameIn(snapshot: Snapshot, path: string): Promise<string | undefined>
}

const plain = ({ path, from, blob: _blob, old: _old, ...rest }: ChangedFile): ExplainedFile => ({
  path: shown(path),
  ...(from === undefined ? {} : { from: shown(from) }),
  ...rest,
  hunks: [],
  origins: new Map(),
  removals: new Map(),
})

async function explained(asked: Asked, file: ChangedFile): Promise<ExplainedFile> {
  const { git, scratch, signal } = asked
  const known = plain(file)
  if (signal.aborted) return { ...known, left_out: 'time' }
  if ((file.added ?? 0) > MOST_LINES) return { ...known, left_out: 'size' }
  try {
    const hunks = await hunksOf(git, { at: () => ['--git-dir', scratch] }, file, signal)
    const versions = await versionsOf(asked, file)
    if (file.kind === 'text' && hunks.length > 0 && file.status !== 'removed') {
      const origins = await originsOf(asked, file, hunks, versions)
      return { ...known, hunks, origins, removals: await removedLines(asked, file, hunks, versions) }
    }
    if (file.kind === 'submodule') return known
    const whole = file.status === 'removed' ? await removedBy(asked, file) : wholeOf(file, versions)
    return { ...known, hunks, ...(whole ? { whole } : {}) }
  } catch (error) {
    if (error instanceof GitStopped) return { ...known, left_out: 'time' }
    throw error
  }
}

/** Under the name that it has in the commit, and under the one that it had before, or that the newest snapshots have it under. */
async function versionsOf(asked: Asked, { path, from: before }: ChangedFile): Promise<FileVersion[]> {
  const { git, store, snapshots } = asked
  if (!store || /\n/.test(path + (before ?? ''))) return []
  const versions: FileVersion[] = []
  for (const here of worktreesOf(snapshots)) {
    const named = await versionsIn(git, store, here, path)
    const from = before ?? (named.length > 0 ? undefined : await asked.nameIn(here.at(-1) as Snapshot, path))
    const earlier = from === undefined || from.includes('\n') ? [] : await versionsIn(git, store, here, from)
    const seen = new Set(named.map((one) => `${one.path} ${one.snapshot.commit}`))
    versions.push(...named, ...earlier.filter((one) => !seen.has(`${one.path} ${one.snapshot.commit}`)))
  }
  return versions.sort((a, b) => byTime(a.snapshot, b.snapshot))
}

const worktreesOf = (snapshots: readonly Snapshot[]): Snapshot[][] =>
  [...new Set(snapshots.map(({ root }) => root))].map((root) => snapshots.filter((one) => one.root === root))

/** Under which other name a snapshot has a file of the commit: a person may have renamed it since. Each snapshot is compared once. */
function namesIn(git: Git, reader: Reader, commit: string, signal: AbortSignal): Asked['nameIn'] {
  const known = new Map<string, Promise<ReadonlyMap<string, string>>>()
  const compare = async ({ worktree_tree }: Snapshot): Promise<ReadonlyMap<string, string>> => {
    const files = await changedFiles(git, reader, worktree_tree, commit, signal)
    return new Map(files.flatMap(({ path, from }) => (from === undefined ? [] : [[path, from] as const])))
  }
  return async (snapshot, path) => {
    const names = known.get(snapshot.worktree_tree) ?? compare(snapshot)
    known.set(snapshot.worktree_tree, names)
    return (await names).get(path)
  }
}

async function originsOf(
  { git, scratch, turns, commit, signal, snapshots }: Asked,
  { path, blob = '' }: ChangedFile,
  hunks: readonly Hunk[],
  versions: readonly FileVersion[],
): Promise<Map<number, LineOrigin>> {
  const origins = new Map<number, LineOrigin>()
  const root = snapshots.find(({ head }) => head === commit.commit)?.root
  const asked = { path, content: { blob }, fromAny: true, commits: [], ...(root === undefined ? {} : { root }) }
  const lines = versions.length === 0 ? [] : await blamedLines(git, scratch, { asked, versions, turns }, signal)
  for (const { start, added } of hunks)
    for (let number = start; number < start + added; number += 1) {
      const origin = lines[number - 1]?.origin ?? { kind: 'now' }
      // What only the commit itself has was written by its author, wherever that was.
      const isOwn = origin.kind === 'commit' && origin.commit === commit.commit
      origins.set(number, isOwn ? { kind: 'now' } : origin)
    }
  return origins
}

/** Who wrote a file of bytes as the commit has it: the first snapshot that shows it so. */
function wholeOf(file: ChangedFile, versions: readonly FileVersion[]): LineOrigin | undefined {
  if (file.kind === 'text' && file.status !== 'renamed') return undefined
  const version = versions.find((one) => one.blob === file.blob && one.path === file.path)
  return version ? writtenBy(version) : { kind: 'now' }
}

/** Who removed it: the newest that did, of all worktrees. */
async function removedBy({ git, store, snapshots }: Asked, { path }: ChangedFile): Promise<LineOrigin> {
  let newest: Awaited<ReturnType<typeof removalIn>>
  if (store && !path.includes('\n'))
    for (const here of worktreesOf(snapshots)) {
      const removal = await removalIn(git, store, here, path)
      if (removal && (!newest || byTime(newest.snapshot, removal.snapshot) < 0)) newest = removal
    }
  return newest ? writtenBy(newest) : { kind: 'now' }
}
