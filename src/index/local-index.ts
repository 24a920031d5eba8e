import type { Position } from '../journal/index.js'
import type { Agent, Event, EventId, Group, SessionId } from '../model/index.js'
import type { FoldedSession, Projection } from './projection.js'
import type { SessionIndex } from './session-index.js'
import type { WorkRows } from './work-rows.js'

/** How far the index has read the journal. */
export interface Cursor {
  position: Position
  id: EventId | undefined
}

/** The same questions, answered at once. */
type Immediate<Questions> = {
  [Name in keyof Questions]: Questions[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Awaited<Answer>
    : never
}

/**
 * What the write path of a local profile needs of its index. Under the writer lock it reads on from the cursor, decides, appends, writes
 * the rows and stores the cursor, all in one transaction and without waiting: so every answer comes at once. Derived and disposable:
 * whatever is wrong with it, the answer is to build it again.
 */
export interface LocalIndex
  extends Immediate<Omit<SessionIndex, 'item' | 'items'>>,
    Pick<WorkRows, 'item' | 'items'>,
    Disposable {
  cursor(): Cursor
  setCursor(cursor: Cursor): void
  /**
   * No event may have an id up to this one: what is read already, and what the files say that the journal was made from. A journal that
   * has lost its end is behind them, and rows would take an event below theirs for one they know.
   */
  lastId(): EventId | undefined
  /** All or nothing, and nobody else writes in between. */
  transaction<T>(body: () => T): T

  /** Folds a stretch of the journal. Inside `transaction`, or while building. Returns the sessions that changed. */
  fold(events: Iterable<Event>): FoldedSession[]
  /** For a rebuild: as `fold`, over any number of events in bounded memory. */
  foldAll(batches: Iterable<readonly Event[]>): void
  projection(): Projection
  writeProjection(projection: Projection): FoldedSession[]
  /** As it is recorded: with the address that its agent had then. */
  read(id: SessionId): FoldedSession | undefined
  /** A session whose record was read from its own file. The newest one wins, whatever the order of the files. */
  load(folded: FoldedSession): void
  loadRoster(agents: readonly Agent[], groups: readonly Group[], through: EventId | undefined): void
  /** What retention asks about units of work and mails. */
  readonly work: Pick<WorkRows, 'through' | 'settledBefore'>
  /** Up to which event the roster is folded. */
  rosterThrough(): EventId | undefined

  /** Remembers that a session's record on disk holds everything up to `through`. */
  markSaved(folded: FoldedSession): void
  /** Whether all that is known of a session is in its record; true also when nothing is known of it. */
  isSaved(id: SessionId): boolean
  unsaved(limit: number): FoldedSession[]
  /** Facts about files, kept beside the rows: what a checkpoint looked like when it was last written. */
  note(key: string): string | undefined
  setNote(key: string, value: string): void

  /** Every row that `check` compares, in a fixed order, table by table. */
  everyRow(): Generator<{ table: string; key: string; value: string }>
  /** What is wrong with the file itself. Empty when it is sound. */
  integrityProblems(): string[]
  /** Takes the content of another index file in place of its own, while others keep this one open. */
  replaceWith(path: string): void
  /** Rewrites the file, so that what was removed is not left in unused parts of it. */
  scrub(): void
}
