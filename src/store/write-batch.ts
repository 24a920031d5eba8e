import type { LocalIndex, Projection } from '../index/index.js'
import {
  type Context,
  defaultVisibility,
  type Event,
  type EventId,
  eventFault,
  type Instant,
  instantOf,
  isDurable,
  isRosterEvent,
  nextEventId,
  type Roster,
  type Session,
  type SessionId,
  SkeinError,
  type Visibility,
} from '../model/index.js'
import { plainCopy } from './plain-payload.js'

/** An event before it has an id, a time and a host. */
export interface Draft {
  type: string
  session?: SessionId | undefined
  agent?: Event['agent'] | undefined
  payload: object
  visibility?: Visibility | undefined
  ts?: Instant | undefined
}

/** What a change may look at: the state after everything decided before it. */
export interface ChangeState {
  readonly now: Instant
  readonly roster: Roster
  readonly index: LocalIndex
  session(id: SessionId): Session | undefined
}

/** Checks the rules, throws when they are broken, and says which events make the change. */
export type Change<T> = (state: ChangeState) => { events: Draft[]; result: (events: readonly Event[]) => T }

export interface Pending {
  change: Change<unknown>
  /** Who asked for it. */
  actor: string
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Changes that go to the disk together: one write, one wait, one transaction. Each still succeeds or fails by itself. */
export class WriteBatch {
  events: Event[] = []
  /** True once the journal has the events: from then on the changes have happened. */
  isSaved = false
  #settled: (() => void)[] = []

  constructor(
    private readonly pending: readonly Pending[],
    private readonly context: Context,
  ) {}

  get lastId(): EventId | undefined {
    return this.events.at(-1)?.id
  }

  get isDurable(): boolean {
    return this.events.some((event) => isDurable(event.type))
  }

  get touchesRoster(): boolean {
    return this.events.some(isRosterEvent)
  }

  /** May be called again after a failure that saved nothing. */
  decide(projection: Projection, index: LocalIndex): void {
    this.events = []
    this.#settled = []
    let last = index.lastId()
    const now = instantOf(this.context.clock.now())
    const state: ChangeState = { now, index, roster: projection.roster, session: (id) => projection.session(id) }
    for (const { change, actor, resolve, reject } of this.pending) {
      try {
        const { events: drafts, result } = change(state)
        const events = drafts.map((draft) => {
          const event = this.#stamped(draft, actor, now, last)
          last = event.id
          return event
        })
        for (const event of events) projection.apply(event)
        this.events.push(...events)
        const value = result(events)
        this.#settled.push(() => resolve(value))
      } catch (error) {
        this.#settled.push(() => reject(error))
      }
    }
  }

  settle(): void {
    for (const settled of this.#settled) settled()
  }

  fail(error: unknown): void {
    for (const { reject } of this.pending) reject(error)
  }

  /** Through JSON and back, so that what is projected now is exactly what anyone will read from the journal later. */
  #stamped(draft: Draft, actor: string, now: Instant, last: EventId | undefined): Event {
    const { clock, random, host } = this.context
    const { type, session, agent, payload, visibility = defaultVisibility(type), ts = now } = draft
    const id = nextEventId(last, clock.now(), random.bytes(10))
    return asRead({ id, ts, type, actor, session, agent, payload, visibility, host })
  }
}

/** What a reader will make of it. What no reader could use is refused here, by the name of the field. */
function asRead(stamped: Record<string, unknown> & { type: string }): Event {
  const event = plainCopy(stamped)
  const fault = event === undefined ? 'payload' : eventFault(event)
  if (fault === undefined) return event as unknown as Event
  const what = `The ${fault} of this ${stamped.type} cannot be recorded`
  throw new SkeinError('bad-input', `${what}: ${shown(stamped, fault)}`, 'See docs/JOURNAL.md for its form')
}

/** The value as it was given, as far as it can be shown in a line. */
function shown(stamped: Record<string, unknown>, fault: string): string {
  const [field = '', inPayload] = fault.split('.')
  const whole = stamped[field]
  const value = inPayload === undefined ? whole : (whole as Record<string, unknown> | undefined)?.[inPayload]
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80)
  } catch {
    return typeof value
  }
}
