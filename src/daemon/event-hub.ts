import type { Events, Home } from '../home/index.js'
import type { Event, EventId } from '../model/index.js'

/** Events kept at hand: a reader that was away for a moment is served without touching the disk. */
const KEPT = 1_000

/** An event as it goes over the wire, put together once for all readers. */
export interface Frame {
  readonly id: EventId
  readonly event: Event
  readonly text: string
}

/**
 * Follows the journal once for everybody. Ids are positions, so "after this id" means the same here and in the files: what
 * the hub no longer holds is read from the journal, and nothing is lost or told twice where the two meet.
 */
export class EventHub {
  /** Everything after this id is in `#recent`. */
  #floor: EventId | undefined
  #recent: Frame[] = []
  #purge: string
  readonly #readers = new Set<(frame: Frame) => void>()

  private constructor(
    private readonly events: Events,
    private readonly lastPurge: () => string,
    floor: EventId | undefined,
  ) {
    this.#floor = floor
    this.#purge = lastPurge()
  }

  /** Begins to follow, until the signal aborts. `running` settles when it has stopped. */
  static async open(
    { events, privacy }: Pick<Home, 'events' | 'privacy'>,
    signal: AbortSignal,
  ): Promise<{ hub: EventHub; running: Promise<void> }> {
    const hub = new EventHub(events, () => privacy.lastPurge(), await events.lastId())
    return { hub, running: hub.#follow(signal) }
  }

  /** The newest event that readers can have seen. */
  get last(): EventId | undefined {
    return this.#recent.at(-1)?.id ?? this.#floor
  }

  /** Whether no event has that id yet, also none that the hub has not come to: who waited for what follows would wait for years. */
  async isAhead(id: EventId): Promise<boolean> {
    return id > (this.last ?? '') && id > ((await this.events.lastId()) ?? '')
  }

  /** Called with each event from now on, as soon as it is in the journal. */
  listen(reader: (frame: Frame) => void): Disposable {
    this.#readers.add(reader)
    return { [Symbol.dispose]: () => this.#readers.delete(reader) }
  }

  /** What is at hand after an id; undefined when that lies further back than the hub remembers. */
  since(after: EventId | undefined): readonly Frame[] | undefined {
    this.#forgetPurged()
    if (this.#floor !== undefined && (after === undefined || after < this.#floor)) return undefined
    return after === undefined ? [...this.#recent] : this.#recent.filter((frame) => frame.id > after)
  }

  /** What is at hand may hold what was purged since: the files do not. */
  #forgetPurged(): void {
    const purge = this.lastPurge()
    if (purge === this.#purge) return
    this.#floor = this.last
    this.#recent = []
    this.#purge = purge
  }

  /** All after an id, from the files, and on as they grow. */
  async *fromJournal(after: EventId | undefined, signal: AbortSignal): AsyncGenerator<Frame> {
    for await (const event of this.events.tail({ ...(after === undefined ? { last: Infinity } : { after }), signal })) {
      yield frameOf(event)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = this.#floor
    const news = this.events.tail({ ...(after === undefined ? { last: Infinity } : { after }), signal })
    for await (const event of news) {
      const frame = frameOf(event)
      this.#recent.push(frame)
      if (this.#recent.length > KEPT) this.#floor = this.#recent.shift()?.id
      for (const reader of this.#readers) reader(frame)
    }
  }
}

const frameOf = (event: Event): Frame => ({
  id: event.id,
  event,
  text: `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
})
