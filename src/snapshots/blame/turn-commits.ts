import { HeadLogs, isMaking, SLACK_MS } from '../head-moves.js'
import type { Snapshot } from '../snapshot.js'
import { type FileVersion, type Writer, writersOf } from './file-versions.js'

/** A commit of the user's, as blame tells of it. */
export interface DatedCommit {
  commit: string
  authoredMs: number
  committedMs: number
}

/** A turn that moved HEAD. */
export interface TurnSpan {
  writer: Extract<Writer, { kind: 'turn' }>
  ended: Snapshot
}

/** Moves of HEAD that only record what is in the worktree; any other may bring changes from elsewhere. */
const RECORDS = /^commit(?: \((?:initial|amend)\))?: /

/** Which commits were written in a turn: an agent that commits its own work is still who wrote it. */
export class TurnCommits {
  readonly #logs = new HeadLogs()
  readonly #spans: TurnSpan[] = []
  readonly #before = new Map<Snapshot, Snapshot>()

  /** Of all worktrees, oldest first. */
  constructor(snapshots: readonly Snapshot[]) {
    for (const root of new Set(snapshots.map((one) => one.root))) {
      const here = snapshots.filter((one) => one.root === root)
      const writers = writersOf(here)
      for (const [at, snapshot] of here.entries()) {
        const [writer, before] = [writers[at], here[at - 1]]
        if (before) this.#before.set(snapshot, before)
        if (snapshot.moment !== 'stop' || writer?.kind !== 'turn' || writer.session !== snapshot.session) continue
        if (writer.begun.head !== snapshot.head) this.#spans.push({ writer, ended: snapshot })
      }
    }
    // Git dates by the second, so a commit may fit two turns: the later one, then.
    this.#spans.sort((a, b) => Date.parse(a.writer.begun.as_of) - Date.parse(b.writer.begun.as_of))
  }

  /** The turn that wrote what a commit brought. One that it picked, merged or pulled was written by somebody else. */
  turnOf(commit: DatedCommit): TurnSpan | undefined {
    return this.#spans.findLast((span) => this.#isWrittenIn(span, commit))
  }

  /** Whether git took changes over from elsewhere (a pick, a merge, another branch) before this version was seen. */
  isBrought({ snapshot }: FileVersion): boolean {
    const before = this.#before.get(snapshot)
    const moves = before && this.#logs.between(before, snapshot)
    return moves === undefined || moves.length === 0 || moves.some(({ what }) => !RECORDS.test(what))
  }

  #isWrittenIn({ writer: { begun }, ended }: TurnSpan, { commit, authoredMs, committedMs }: DatedCommit): boolean {
    const [fromMs, toMs] = [Date.parse(begun.as_of) - SLACK_MS, Date.parse(ended.as_of) + SLACK_MS]
    if (committedMs < fromMs || committedMs > toMs) return false
    const moves = this.#logs.between(begun, ended)
    const isAuthoredIn = authoredMs >= Math.floor(Date.parse(begun.as_of) / 1_000) * 1_000
    // Git drops old entries of its log, and keeps none for some.
    if (moves === undefined || moves.length === 0) return isAuthoredIn && begun.branch === ended.branch
    const made = moves.find((move) => move.to === commit && isMaking(move))
    return made !== undefined && (isAuthoredIn || /^commit(?! \(cherry-pick\))/.test(made.what))
  }
}
