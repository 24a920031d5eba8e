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

/** A time between two snapshots. `since`: the end of the turn before it, for a turn whose prompt was captured late. */
interface Span {
  kind: 'turn' | 'edit'
  turn: number
  pair: Pair
  since?: Snapshot
}

type Pair = readonly [Snapshot, Snapshot]

export async function sessionCode(
  coded: readonly CodedTurn[],
  compare: (pairs: readonly Pair[]) => Promise<FileChange[][]>,
): Promise<SessionCode> {
  const spans = spansOf(coded)
  const whole = spans.flatMap(({ since, pair }): Pair[] => (since ? [[since, pair[1]]] : []))
  const compared = await compare([...spans.map(({ pair }) => pair), ...whole])
  const wholly = compared.splice(spans.length)
  const code: SessionCode = { coded: [...coded], turns: new Map(), edits: [] }
  for (const [at, span] of spans.entries()) {
    const change = changeOf(span, compared[at] ?? [], span.since ? (wholly.shift() ?? []) : [])
    if (span.kind === 'turn') code.turns.set(span.turn, change)
    else if (change.files > 0 || change.head_moved) code.edits.push({ after_turn: span.turn, ...change })
  }
  return code
}

function spansOf(coded: readonly CodedTurn[]): Span[] {
  const spans: Span[] = []
  let last: { turn: number; snapshot: Snapshot } | undefined
  for (const { turn, before, after } of coded) {
    if (last && before) spans.push({ kind: 'edit', turn: last.turn, pair: [last.snapshot, before] })
    const since = last && before && before.late.length > 0 ? { since: last.snapshot } : {}
    if (before && after) spans.push({ kind: 'turn', turn, pair: [before, after], ...since })
    last = after ? { turn, snapshot: after } : undefined
  }
  return spans
}

/** Where HEAD, a branch or the index changed after the moment of a snapshot. */
const REPOSITORY = '.git'

/**
 * What a snapshot of a prompt shows as it was later, the turn has changed and nobody before it: that is compared with the end of the turn
 * before. Without one, such a file is named with no count of its lines.
 */
function changeOf(
  { kind, pair, since }: Span,
  changes: readonly FileChange[],
  whole: readonly FileChange[],
): CodeChange {
  const [before, after] = pair
  const late = new Set(kind === 'edit' ? after.late : since ? before.late : [])
  const isLate = ({ path, from }: FileChange): boolean => late.has(path) || (from !== undefined && late.has(from))
  const told = [...changes.filter((change) => !isLate(change)), ...whole.filter(isLate)]
  if (kind === 'turn' && !since) told.push(...unseen(before, told))
  const isHeadLate = late.has(REPOSITORY)
  const head = isHeadLate && since ? since : before
  const isPartial = (one: Snapshot): boolean => one.mode === 'partial' || !one.exact
  return {
    changes: told,
    files: told.length,
    added: told.reduce((sum, { added = 0 }) => sum + added, 0),
    removed: told.reduce((sum, { removed = 0 }) => sum + removed, 0),
    head_moved: !(isHeadLate && kind === 'edit') && (head.head !== after.head || head.branch !== after.branch),
    is_partial: isPartial(before) || isPartial(after),
  }
}

function unseen({ late }: Snapshot, seen: readonly FileChange[]): FileChange[] {
  const known = new Set(seen.flatMap(({ path, from }) => [path, from]))
  return late.flatMap((path) => (path === REPOSITORY || known.has(path) ? [] : [{ path, status: 'changed' as const }]))
}
