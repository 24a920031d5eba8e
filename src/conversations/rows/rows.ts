import { SkeinError } from '../../model/index.js'
import type { SessionEntry } from '../entry.js'
import { type ConversationKey, type KeyKind, parseKey } from '../key.js'

/** Identifies one state of one entry. Opaque: equal while nobody has changed it, different once somebody has. */
export type Revision = string

export interface Row {
  key: ConversationKey
  revision: Revision
  entry: SessionEntry
}

/** One step of a change. `decide` is synchronous and may run only once the current row can no longer move. */
export interface Step {
  key: ConversationKey
  /** The revision the caller last saw; a different one is a conflict. `'absent'`: there must be none. */
  expected?: Revision | 'absent'
  /** The entry to store, or undefined to remove it. Returning the current entry unchanged stores nothing. */
  decide(current: Row | undefined): SessionEntry | undefined
}

export interface RowFilter {
  kind?: KeyKind
  channel?: string
  spawnedBy?: string
  /** Only those last active at or after this time, ms. */
  activeSince?: number
  /** Only those last active before this time, ms. */
  idleSince?: number
  limit?: number
}

/** The rows of one agent. Two implementations, one contract (`test/conversations/contract.ts`). */
export interface ConversationRows extends Disposable {
  get(key: ConversationKey): Promise<Row | undefined>
  /** All steps or none, with nobody in between, in any process. Returns the rows afterwards, in the order of the steps. */
  change(steps: readonly Step[]): Promise<(Row | undefined)[]>
  /** Newest first; equal times by key. */
  list(filter?: RowFilter): Promise<Row[]>
}

/** Somebody else changed the entry after the caller read it. Nothing was written. */
export class RevisionConflict extends SkeinError {
  constructor(
    readonly key: ConversationKey,
    /** The revision the entry has now; undefined when there is none. */
    readonly current: Revision | undefined,
  ) {
    super(
      'conversation-conflict',
      current === undefined
        ? `The conversation ${key} was removed in the meantime`
        : `The conversation ${key} was changed in the meantime; its revision is now ${current}`,
      'Read it again and repeat the change',
    )
  }
}

export function checkExpected(step: Step, current: Row | undefined): void {
  if (step.expected === undefined) return
  if ((current?.revision ?? 'absent') !== step.expected) throw new RevisionConflict(step.key, current?.revision)
}

/** The rows a filter asks for, in the order `list` promises. For backends without a query language. */
export function selectRows(rows: Row[], filter: RowFilter): Row[] {
  const wanted = rows.filter(
    ({ key, entry }) =>
      (filter.kind === undefined || parseKey(key).kind === filter.kind) &&
      (filter.channel === undefined || channelOf(key, entry) === filter.channel) &&
      (filter.spawnedBy === undefined || entry.spawnedBy === filter.spawnedBy) &&
      (filter.activeSince === undefined || entry.updatedAt >= filter.activeSince) &&
      (filter.idleSince === undefined || entry.updatedAt < filter.idleSince),
  )
  wanted.sort((a, b) => b.entry.updatedAt - a.entry.updatedAt || (a.key < b.key ? -1 : 1))
  return filter.limit === undefined ? wanted : wanted.slice(0, filter.limit)
}

export const channelOf = (key: ConversationKey, entry: SessionEntry): string | undefined =>
  entry.channel ?? entry.lastChannel ?? parseKey(key).channel
