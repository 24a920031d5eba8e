import type { Events, Home } from '../../home/index.js'
import type { Event, EventId } from '../../model/index.js'

/** Events kept at hand, by number and by bytes: a reader that was away for a moment is served without touching the disk. */
const KEPT = { events: 1_000, bytes: 4 * 1024 * 1024 }

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
  #bytes = 0
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

  /** The events after an id that are in memory; undefined if the id is older than that. */
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
    this.#bytes = 0
    this.#purge = purge
  }

  /** All after an id, from the files, and on as they grow. */
  async *fromJournal(after: EventId | undefined, signal: AbortSignal): AsyncGenerator<Frame> {
    for await (const event of this.events.tail({ ...(after === undefined ? { last: Infinity } : { after }), signal })) {
      yield frameOf(event)
    }
  }

  #keep(frame: Frame): void {
    this.#recent.push(frame)
    this.#bytes += sizeOf(frame)
    let gone = 0
    while (this.#recent.length - gone > KEPT.events || this.#bytes > KEPT.bytes) {
      const oldest = this.#recent[gone]
      if (!oldest) break
      this.#floor = oldest.id
      this.#bytes -= sizeOf(oldest)
      gone += 1
    }
    if (gone > 0) this.#recent.splice(0, gone)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = this.#floor
    const news = this.events.tail({ ...(after === undefined ? { last: Infinity } : { after }), signal })
    for await (const event of news) {
      const frame = frameOf(event)
      this.#keep(frame)
      for (const reader of this.#readers) reader(frame)
    }
  }
}

/** The event and its text, both in memory. */
const sizeOf = ({ text }: Frame): number => 2 * text.length

const frameOf = (event: Event): Frame => ({
  id: event.id,
  event,
  text: `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
})
