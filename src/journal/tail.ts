import { type FSWatcher, watch } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeDirectory } from '../disk/index.js'
import type { Event, EventId } from '../model/index.js'
import type { Journal, ReadFrom } from './journal.js'
import type { SegmentReader } from './segment.js'

/** Watching can miss a change (network file systems, full queues), so the end is looked at this often anyway. */
const LOOK_AGAIN_MS = 500

/**
 * Follows the journal: everything after `after`, then what comes, until the signal aborts. It never loses its place:
 * the segment being read stays open, so sealing and pruning cannot take it away, and the next one begins at its start.
 */
export async function* tail(journal: Journal, from: ReadFrom, signal: AbortSignal): AsyncGenerator<Event> {
  const bell = new Bell(journal.directory, signal)
  let last: EventId | undefined = from.after
  // A position is only a place to begin looking: the ids say what was seen, also when the segment was pruned since.
  let segment = Math.max(0, (from.position?.segment ?? 0) - 1)
  let reader: SegmentReader | undefined
  try {
    while (!signal.aborted) {
      const heard = bell.armed()
      // Asked before reading: once a later segment exists, this one gets no more lines, so what is read next is its rest.
      const following = journal.segments().find((number) => number > segment)
      for (let batch = reader?.next(); batch; batch = reader?.next()) {
        for (const event of batch.events) {
          if (last !== undefined && event.id <= last) continue
          last = event.id
          yield event
          if (signal.aborted) return
        }
        await nextTurn() // a long journal is read for one who listens, and others wait for answers meanwhile
      }
      if (following === undefined) {
        await heard
        continue
      }
      reader?.[Symbol.dispose]()
      reader = journal.open(following, 0)
      segment = following
    }
  } finally {
    reader?.[Symbol.dispose]()
    bell[Symbol.dispose]()
  }
}

/** Rings when the directory changes, when it is time to look again, or at the end. */
class Bell implements Disposable {
  #ring: () => void = () => {}
  readonly #onAbort = (): void => this.#ring()
  readonly #watcher: FSWatcher | undefined
  readonly #timer: NodeJS.Timeout

  constructor(
    directory: string,
    private readonly signal: AbortSignal,
  ) {
    try {
      makeDirectory(directory)
      this.#watcher = watch(directory, { persistent: false }, () => this.#ring())
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // No watches left on this machine: looking again is enough.
    }
    this.#timer = setInterval(() => this.#ring(), LOOK_AGAIN_MS)
    signal.addEventListener('abort', this.#onAbort)
  }

  /** Resolves at the next ring after this call, so that nothing between a look and a wait is missed. */
  armed(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve
      if (this.signal.aborted) resolve()
    })
  }

  [Symbol.dispose](): void {
    this.#watcher?.close()
    clearInterval(this.#timer)
    this.signal.removeEventListener('abort', this.#onAbort)
  }
}
