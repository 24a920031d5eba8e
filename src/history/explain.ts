import type { AgentAddress, Instant, Session, SessionId } from '../model/index.js'
import { msOf } from '../model/index.js'
import type { CommitExplanation, ExplainedFile, LineOrigin, SnapshotBook, UserCommit } from '../snapshots/index.js'
import type { StoredSessions } from '../store/index.js'
import type { LoggedTurn } from '../tools/index.js'
import { type KnownSession, type LineWriter, LineWriters, type WriterSources } from './line-writers.js'

/** How many lines a writer added and removed. */
export interface CommitShare {
  /** A place in `writers`. */
  writer: number
  added: number
  removed: number
}

export interface CommitHunk {
  /** The number of its first line in the file. */
  start: number
  added: number
  removed: number
  parts: CommitShare[]
}

export interface CommitFile {
  path: string
  from?: string
  status: ExplainedFile['status']
  kind: ExplainedFile['kind']
  added?: number
  removed?: number
  parts: CommitShare[]
  hunks: CommitHunk[]
  /** Who wrote a file without lines as it is, or removed it. */
  writer?: number
  left_out?: NonNullable<ExplainedFile['left_out']>
}

/** Who made a commit, or what it was before it was amended, rebased or cherry-picked. */
export interface CommitMaker {
  session: SessionId
  agent?: AgentAddress
  turn?: number
  commit: string
  /** `this`: the commit itself. `original`: what it was made from, by a rebase for one. `copy`: what was made of it later. */
  relation: 'this' | 'original' | 'copy'
}

export interface Explanation extends Omit<UserCommit, 'author_email' | 'authored_at' | 'committed_at'> {
  authored_at: Instant
  committed_at: Instant
  root: string
  base?: string
  added: number
  removed: number
  writers: (LineWriter & { added: number; removed: number; files: number })[]
  made_by: CommitMaker[]
  files: CommitFile[]
  /** What may be missing, in words. */
  notes: string[]
}

/** `turns` has what the log tells of a writer's turn, by the place of the writer; `sessions` those that are named. */
export interface Explained {
  explanation: Explanation
  turns: Map<number, LoggedTurn>
  sessions: Map<string, Session>
}

interface Sources extends WriterSources {
  snapshots: Pick<SnapshotBook, 'explain' | 'list'>
  sessions: Pick<StoredSessions, 'query'>
}

/** Git dates by the second. */
const SLACK_MS = 2_000

/** Which sessions and turns went into a commit. */
export async function explain(sources: Sources, directory: string, rev: string): Promise<Explained> {
  const found = await sources.snapshots.explain(directory, rev)
  const book = new LineWriters(sources)
  const files: CommitFile[] = []
  for (const file of found.files) files.push(await fileOf(file, book))
  const made_by = await makersOf(sources, found, book)
  const { author_email: _, ...commit } = found.commit
  const dates = { authored_at: commit.authored_at as Instant, committed_at: commit.committed_at as Instant }
  const writers = book.list.map((writer, at) => ({
    ...writer,
    ...(writer.kind === 'now' ? { kind: 'elsewhere' as const } : {}),
    ...sumOf(files, at),
  }))
  const turns = new Map<number, LoggedTurn>()
  const sessions = new Map<string, Session>()
  for (const [at, writer] of writers.entries()) {
    const turn = await book.turnOf(writer)
    if (turn) turns.set(at, turn)
  }
  for (const id of [...writers, ...made_by].flatMap(({ session }) => session ?? [])) {
    const known = await book.session(id)
    if (known) sessions.set(id, known.history.session)
  }
  const explanation: Explanation = {
    root: found.root,
    ...commit,
    ...dates,
    ...(found.base === undefined ? {} : { base: found.base }),
    added: files.reduce((sum, { added = 0 }) => sum + added, 0),
    removed: files.reduce((sum, { removed = 0 }) => sum + removed, 0),
    writers,
    made_by,
    files,
    notes: notesOf(found),
  }
  return { explanation, turns, sessions }
}

async function fileOf(file: ExplainedFile, book: LineWriters): Promise<CommitFile> {
  const { path, from, status, kind, added, removed, left_out, origins, removals, whole } = file
  const hunks: CommitHunk[] = []
  for (const hunk of file.hunks) {
    const parts = new Shares(book)
    for (let n = 0; n < hunk.added; n += 1) await parts.add(origins.get(hunk.start + n), 'added')
    for (let n = 0; n < hunk.removed; n += 1) await parts.add(removals.get(hunk.old_start + n) ?? whole, 'removed')
    hunks.push({ start: hunk.start, added: hunk.added, removed: hunk.removed, parts: parts.list })
  }
  const sum = new Map<number, CommitShare>()
  for (const { writer, added, removed } of hunks.flatMap(({ parts }) => parts)) {
    const before = sum.get(writer) ?? { writer, added: 0, removed: 0 }
    sum.set(writer, { writer, added: before.added + added, removed: before.removed + removed })
  }
  return {
    path,
    ...(from === undefined ? {} : { from }),
    status,
    kind,
    ...(added === undefined ? {} : { added }),
    ...(removed === undefined ? {} : { removed }),
    parts: [...sum.values()].sort((a, b) => b.added + b.removed - (a.added + a.removed)),
    hunks,
    ...(whole === undefined ? {} : { writer: await book.placeOf(whole) }),
    ...(left_out === undefined ? {} : { left_out }),
  }
}

/** The shares of a stretch of lines, in the order in which the writers come. */
class Shares {
  readonly list: CommitShare[] = []

  constructor(private readonly book: LineWriters) {}

  async add(origin: LineOrigin | undefined, what: 'added' | 'removed'): Promise<void> {
    if (!origin) return
    const writer = await this.book.placeOf(origin)
    const known = this.list.find((one) => one.writer === writer)
    const share = known ?? { writer, added: 0, removed: 0 }
    if (!known) this.list.push(share)
    share[what] += 1
  }
}

function sumOf(files: readonly CommitFile[], writer: number): { added: number; removed: number; files: number } {
  const of = files.flatMap(({ parts }) => parts).filter((part) => part.writer === writer)
  return {
    added: of.reduce((sum, { added }) => sum + added, 0),
    removed: of.reduce((sum, { removed }) => sum + removed, 0),
    files: files.filter((file) => file.writer === writer || file.parts.some((part) => part.writer === writer)).length,
  }
}

/** The sessions that are known to have made it, or what it comes from, and in which turn. */
async function makersOf(
  { sessions }: Pick<Sources, 'sessions'>,
  { commit, kin }: CommitExplanation,
  book: LineWriters,
): Promise<CommitMaker[]> {
  const all = [commit, ...kin]
  const { sessions: found } = await sessions.query({ commits: all.map((one) => one.commit), limit: 1_000 })
  const makers: CommitMaker[] = []
  for (const { id, agent, commits = [] } of found) {
    const known = await book.session(id)
    for (const made of all.filter((one) => commits.some((own) => one.commit.startsWith(own)))) {
      const turn = known && turnAt(known, msOf(made.committed_at as Instant))
      makers.push({
        session: id,
        ...(agent === undefined ? {} : { agent }),
        ...(turn === undefined ? {} : { turn }),
        commit: made.commit,
        relation: made === commit ? 'this' : made.committed_at <= commit.committed_at ? 'original' : 'copy',
      })
    }
  }
  return makers
}

/** The turn that was under way, by its snapshots or by its log. */
function turnAt({ history, coded }: KnownSession, ms: number): number | undefined {
  const isWithin = (from: string | undefined, to: string | undefined): boolean =>
    from !== undefined && to !== undefined && Date.parse(from) - SLACK_MS <= ms && ms <= Date.parse(to) + SLACK_MS
  const captured = coded.findLast(({ before, after }) => isWithin(before?.as_of, after?.as_of))
  return captured?.turn ?? history.turns.findLast(({ started_at, ended_at }) => isWithin(started_at, ended_at))?.number
}

function notesOf({ snapshots, files, commit, base, root }: CommitExplanation): string[] {
  const left = (why: ExplainedFile['left_out']): number => files.filter(({ left_out }) => left_out === why).length
  const [count, size, time] = [left('count'), left('size'), left('time')]
  const partial = snapshots.filter(({ mode, exact }) => mode === 'partial' || !exact).length
  const first = snapshots[0]?.as_of
  const isOlder = first !== undefined && Date.parse(commit.authored_at) < Date.parse(first) - SLACK_MS
  return [
    ...(commit.parents.length > 1 ? [`A merge: compared with its first parent ${base?.slice(0, 8)}`] : []),
    ...(first === undefined ? [`No turn was captured in ${root} up to this commit: only its makers are known`] : []),
    ...(isOlder ? [`The first snapshot of this repository is of ${first}: what was written before is not known`] : []),
    ...(partial > 0
      ? [`${partial} of ${snapshots.length} snapshots lack files or show some of them as they were later`]
      : []),
    ...(count > 0 ? [`${count} more files were not looked into: there are too many`] : []),
    ...(size > 0 ? [`${size} files are too large to be looked into`] : []),
    ...(time > 0 ? [`${time} files were not looked into: it took too long`] : []),
  ]
}
