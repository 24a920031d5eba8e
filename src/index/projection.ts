import {
  applyToSession,
  type Event,
  type EventId,
  type GroupPath,
  groupLineage,
  isRosterEvent,
  type Roster,
  type Session,
  type SessionId,
  sessionsTouchedBy,
  splitAddress,
} from '../model/index.js'

/** A session with the last event that is folded into it. */
export interface FoldedSession {
  session: Session
  through: EventId
}

/** Where a projection reads and writes rows. */
export interface RowStore {
  read(id: SessionId): FoldedSession | undefined
  write(folded: FoldedSession, before: Session | undefined): void
  readonly work: { apply(event: Event): void }
}

/**
 * Folds events into sessions and the roster. What an event means is the model's business; this keeps the rows in step
 * and holds each touched session in memory until `flush`, so that a session with many events is written once.
 * An event that a row has already folded is skipped, so applying a stretch of the journal twice changes nothing.
 */
export class Projection {
  readonly #sessions = new Map<
    SessionId,
    { before: Session | undefined; now: FoldedSession | undefined; dirty: boolean }
  >()
  readonly rosterChange = { agents: new Set<string>(), groups: new Set<string>() }
  rosterThrough: EventId | undefined

  constructor(
    private readonly rows: RowStore,
    readonly roster: Roster,
    rosterThrough: EventId | undefined,
  ) {
    this.rosterThrough = rosterThrough
  }

  apply(event: Event): void {
    if (isRosterEvent(event)) this.#applyToRoster(event)
    for (const id of sessionsTouchedBy(event)) this.#applyToSession(id, event)
    this.rows.work.apply(event)
  }

  /** The session as it would be if everything applied so far were written. */
  session(id: SessionId): Session | undefined {
    return this.#entry(id).now?.session
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Writes what changed and forgets it; returns the changed sessions. */
  flush(): FoldedSession[] {
    const changed: FoldedSession[] = []
    for (const { before, now, dirty } of this.#sessions.values()) {
      if (!dirty || !now) continue
      this.rows.write(now, before)
      changed.push(now)
    }
    this.#sessions.clear()
    return changed
  }

  #applyToSession(id: SessionId, event: Event): void {
    const entry = this.#entry(id)
    if (entry.now && event.id <= entry.now.through) return
    const session = applyToSession(entry.now?.session, id, event)
    if (!session || session === entry.now?.session) return
    entry.now = { session, through: event.id }
    entry.dirty = true
  }

  #applyToRoster(event: Event): void {
    if (this.rosterThrough !== undefined && event.id <= this.rosterThrough) return
    const change = this.roster.apply(event)
    for (const id of change.agents) this.rosterChange.agents.add(id)
    for (const path of change.groups) this.rosterChange.groups.add(path)
    this.rosterThrough = event.id
  }

  #entry(id: SessionId): { before: Session | undefined; now: FoldedSession | undefined; dirty: boolean } {
    let entry = this.#sessions.get(id)
    if (!entry) {
      const stored = this.rows.read(id)
      entry = { before: stored?.session, now: stored, dirty: false }
      this.#sessions.set(id, entry)
    }
    return entry
  }
}

/** The columns a session is found by. */
const FILTER_FIELDS = ['agent', 'agent_id', 'role', 'tool', 'work_unit', 'chain_id', 'started_at', 'title'] as const

/** Whether a change touches what lists are ordered and filtered by; most do not, and then no index has to be maintained. */
export function isFoundTheSame(before: Session, now: Session): boolean {
  return (
    FILTER_FIELDS.every((field) => before[field] === now[field]) &&
    before.forked_from?.session === now.forked_from?.session
  )
}

/** Every group a session's agent was in, for lists by group. A session without an agent may still name its rig. */
export function groupsOf(session: Session): GroupPath[] {
  const rig = session.rig as GroupPath | undefined
  const lineage = lineageOf(session)
  return rig !== undefined && isOwnRig(session) ? [rig, ...lineage] : lineage
}

type Placed = { agent?: Session['agent'] | undefined; rig?: string | undefined }

/** Whether a session names a rig that its agent's address did not have: the other follows the agent. */
export const isOwnRig = (session: Placed): boolean =>
  session.rig !== undefined && !lineageOf(session).includes(session.rig as GroupPath)

function lineageOf({ agent }: Placed): GroupPath[] {
  const group = agent === undefined ? undefined : splitAddress(agent).group
  return group ? groupLineage(group) : []
}
