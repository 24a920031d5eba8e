import { type Snapshot, shown } from '../snapshot.js'
import type { FileVersion, Writer } from './file-versions.js'
import { ASKED } from './line-graph.js'
import type { TurnCommits } from './turn-commits.js'

/** Where a line comes from. */
export type LineOrigin =
  | { kind: 'turn'; writer: Extract<Writer, { kind: 'turn' }>; snapshot: Snapshot }
  /** Between two turns; `snapshot` is the first that has it. */
  | { kind: 'edit'; snapshot: Snapshot }
  /** A commit of the user's repository, from before the first snapshot or from elsewhere. */
  | { kind: 'commit'; commit: string; author: string; at: string; summary: string }
  /** It was there at the first snapshot, and no commit has it. */
  | { kind: 'before'; snapshot: Snapshot }
  /** Nothing that is known has it: since the last snapshot. */
  | { kind: 'now' }

export interface BlamedLine {
  number: number
  text: string
  origin: LineOrigin
}

interface Known {
  marks: ReadonlyMap<string, number | typeof ASKED>
  versions: readonly FileVersion[]
  turns: TurnCommits
}

/** What `git blame --porcelain` prints: a head per line, what is known of a commit at its first line, the text behind a tab. */
export function linesIn(printed: Buffer, known: Known): BlamedLine[] {
  const lines: BlamedLine[] = []
  const facts = new Map<string, Map<string, string>>()
  const origins = new Map<string, LineOrigin>()
  let commit = ''
  for (const line of printed.toString('latin1').split('\n')) {
    const head = /^([0-9a-f]{40,64}) \d+ \d+/.exec(line)
    if (line.startsWith('\t')) {
      const origin = origins.get(commit) ?? originOf(commit, facts.get(commit) ?? new Map(), known)
      origins.set(commit, origin)
      lines.push({ number: lines.length + 1, text: shown(line.slice(1)), origin })
    } else if (head) {
      commit = head[1] ?? ''
      if (!facts.has(commit)) facts.set(commit, new Map())
    } else {
      const space = line.indexOf(' ')
      facts.get(commit)?.set(space < 0 ? line : line.slice(0, space), shown(line.slice(space + 1)))
    }
  }
  return lines
}

function originOf(commit: string, facts: ReadonlyMap<string, string>, { marks, versions, turns }: Known): LineOrigin {
  const mark = marks.get(commit)
  if (mark === ASKED) return { kind: 'now' }
  const version = mark === undefined ? undefined : versions[mark - 1]
  if (!version) {
    const [authoredMs = 0, committedMs = 0] = ['author-time', 'committer-time'].map(
      (name) => Number(facts.get(name) ?? 0) * 1_000,
    )
    const made = turns.turnOf({ commit, authoredMs, committedMs })
    if (made) return { kind: 'turn', writer: made.writer, snapshot: made.ended }
    const at = new Date(authoredMs).toISOString()
    return { kind: 'commit', commit, author: facts.get('author') ?? '', at, summary: facts.get('summary') ?? '' }
  }
  return writtenBy(version)
}

export function writtenBy({
  snapshot,
  writer,
  isFirst,
}: Pick<FileVersion, 'snapshot' | 'writer' | 'isFirst'>): LineOrigin {
  if (writer.kind === 'turn') return { kind: 'turn', writer, snapshot }
  return isFirst ? { kind: 'before', snapshot } : { kind: 'edit', snapshot }
}
