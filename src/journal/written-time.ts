import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ifThere } from '../disk/index.js'
import { type Event, type EventId, isEventId, msOf, msOfEventId } from '../model/index.js'
import type { Journal } from './journal.js'

/** Longer than any line that we write. */
const TAIL_BYTES = 128 * 1024

/**
 * When the events of a segment were written. What an event says of its time is its writer's word, and a writer's clock may be wrong by
 * years; its id is made under our lock and never below those before it; and the file system has a clock of its own. The latest of
 * these that is not in the future counts, so that no wrong clock makes an event old before its time.
 */
export class WrittenTimes {
  /** When something was last written to the segment; undefined when the clock has been set back since. */
  readonly #changedMs: number | undefined
  /** How far the ids are behind the file system's clock. */
  readonly #lagMs: number

  constructor(
    journal: Pick<Journal, 'path'>,
    segment: number,
    private readonly nowMs: number,
  ) {
    const { changedMs, last } = ifThere(() => endOf(journal.path(segment))) ?? {}
    this.#changedMs = changedMs !== undefined && changedMs <= nowMs ? changedMs : undefined
    this.#lagMs = this.#changedMs && last ? Math.max(0, this.#changedMs - msOfEventId(last)) : 0
  }

  ageOf({ id, ts }: Pick<Event, 'id' | 'ts'>): number {
    const writtenMs = msOfEventId(id) + this.#lagMs
    if (writtenMs <= this.nowMs) return this.nowMs - writtenMs
    // The ids are ahead: somebody wrote while the clock was. They say no more than the order.
    return Math.max(0, this.nowMs - (this.#changedMs ?? msOf(ts)))
  }
}

function endOf(path: string): { changedMs: number; last: EventId | undefined } {
  const file = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length)
    const ids = [...bytes.toString('latin1', 0, read).matchAll(/^\{"id":"([0-9a-f-]{36})"/gm)].map(([, id]) => id)
    return { changedMs: mtimeMs, last: ids.findLast(isEventId) }
  } finally {
    closeSync(file)
  }
}
