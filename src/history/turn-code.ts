import type { FileChange, Snapshot } from '../snapshots/index.js'
import type { CodedTurn } from './coded-turns.js'

/** What became of the code in a time. */
export interface CodeChange {
  changes: FileChange[]
  files: number
  /** Lines; those of binary files are not counted. */
  added: number
  removed: number
  /** HEAD is another commit than before, or another branch. */
  head_moved: boolean
  /** A snapshot lacks files, or shows some of them as they were later. */
  is_partial: boolean
}

/** The code of a session, turn by turn. */
export interface SessionCode {
  coded: CodedTurn[]
  /** By the number of the turn; only turns with both snapshots. */
  turns: Map<number, CodeChange>
  /** What changed after a turn and before the next prompt: by a person, or by somebody else in the same worktree. */
  edits: (CodeChange & { after_turn: number })[]
}

interface Span {
  kind: 'turn' | 'edit'
  turn: number
  pair: readonly [Snapshot, Snapshot]
}

export async function sessionCode(
  coded: readonly CodedTurn[],
  compare: (pairs: readonly (readonly [Snapshot, Snapshot])[]) => Promise<FileChange[][]>,
): Promise<SessionCode> {
  const spans = spansOf(coded)
  const compared = await compare(spans.map(({ pair }) => pair))
  const code: SessionCode = { coded: [...coded], turns: new Map(), edits: [] }
  for (const [at, { kind, turn, pair }] of spans.entries()) {
    const change = changeOf(pair, compared[at] ?? [])
    if (kind === 'turn') code.turns.set(turn, change)
    else if (change.files > 0 || change.head_moved) code.edits.push({ after_turn: turn, ...change })
  }
  return code
}

function spansOf(coded: readonly CodedTurn[]): Span[] {
  const spans: Span[] = []
  let last: { turn: number; snapshot: Snapshot } | undefined
  for (const { turn, before, after } of coded) {
    if (last && before) spans.push({ kind: 'edit', turn: last.turn, pair: [last.snapshot, before] })
    if (before && after) spans.push({ kind: 'turn', turn, pair: [before, after] })
    last = after ? { turn, snapshot: after } : undefined
  }
  return spans
}

function changeOf([before, after]: readonly [Snapshot, Snapshot], changes: FileChange[]): CodeChange {
  const isPartial = (one: Snapshot): boolean => one.mode === 'partial' || !one.exact
  return {
    changes,
    files: changes.length,
    added: changes.reduce((sum, { added = 0 }) => sum + added, 0),
    removed: changes.reduce((sum, { removed = 0 }) => sum + removed, 0),
    head_moved: before.head !== after.head || before.branch !== after.branch,
    is_partial: isPartial(before) || isPartial(after),
  }
}
