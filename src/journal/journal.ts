import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, refuseForeign, syncPath } from '../disk/index.js'
import { DAY_MS, type Event, type EventId, isEventId, msOfEventId } from '../model/index.js'
import { BlobStore } from './blob.js'
import { encodeEvent, MAX_LINE_BYTES } from './event-line.js'
import { type Position, SegmentReader, segmentName, segmentNumber } from './segment.js'

/** Small enough to prune in a blink, large enough that a busy year is some hundred files. */
const SEAL_AT_BYTES = 8 * 1024 * 1024
const NEWLINE = 10
/** Ends a torn line so that it can never be taken for an event: no JSON text may hold this character. */
const CANCEL = '\x18\n'

export interface ReadFrom {
  position?: Position
  /** Events up to this id are already known. */
  after?: EventId
}

export interface JournalBatch {
  events: Event[]
  unreadable: number
  /** Events whose id does not rise: copied lines. They stay in the file and mean nothing. */
  repeated: number
  position: Position
}

/**
 * The append-only log of one profile: numbered segments of JSON lines. The highest number is the active one; all others
 * are sealed, which means that nobody will ever append to them again. Appending and sealing are done by the holder of
 * the writer lock; reading needs no lock.
 */
export class Journal implements Disposable {
  readonly blobs: BlobStore
  #active: { number: number; file: number } | undefined

  constructor(readonly directory: string) {
    this.blobs = new BlobStore(join(directory, 'blobs'))
  }

  /** The segment numbers, oldest first. */
  segments(): number[] {
    if (!existsSync(this.directory)) return []
    return readdirSync(this.directory)
      .map(segmentNumber)
      .filter((number) => number !== undefined)
      .sort((a, b) => a - b)
  }

  path(segment: number): string {
    return join(this.directory, segmentName(segment))
  }

  /** Where the journal ends now. */
  end(): Position {
    const segment = this.segments().at(-1)
    return segment === undefined ? { segment: 0, offset: 0 } : { segment, offset: sizeOf(this.path(segment)) }
  }

  /** Where to begin reading for what comes after an event: its segment, or the first one that is left. */
  placeOf(id: EventId): Position {
    const segments = this.segments()
    // Not the last segment that begins below it: a line out of order at the beginning of a later one would hide what lies between.
    const following = segments.findIndex((segment) => (this.#firstId(segment) ?? '') > id)
    const holder = following < 0 ? segments.at(-1) : segments[Math.max(0, following - 1)]
    return { segment: holder ?? 0, offset: 0 }
  }

  bytes(): number {
    return this.segments().reduce((sum, segment) => sum + sizeOf(this.path(segment)), 0)
  }

  /** When the oldest event that is still there was written; undefined when there is none. */
  begunMs(): number | undefined {
    const [first] = this.segments()
    if (first === undefined) return undefined
    const id = this.#firstId(first)
    return id === undefined ? undefined : msOfEventId(id)
  }

  /** Whether anything was appended behind a position; the cheap question that every query asks first. */
  isAtEnd({ segment, offset }: Position): boolean {
    if (segment === 0) return this.segments().length === 0
    return sizeOf(this.path(segment)) === offset && !existsSync(this.path(segment + 1))
  }

  /**
   * All events behind a point, in order, up to the end at the time of the call. A position inside a sealed segment is
   * only a hint, because pruning rewrites those: there the ids decide.
   */
  *read({ position, after }: ReadFrom = {}): Generator<JournalBatch> {
    const segments = this.segments().filter((number) => number >= (position?.segment ?? 0))
    const active = segments.at(-1)
    let last = after
    for (const segment of segments) {
      const isHint = segment !== position?.segment || segment !== active
      const offset = isHint || (position?.offset ?? 0) > sizeOf(this.path(segment)) ? 0 : (position?.offset ?? 0)
      using reader = this.open(segment, offset)
      if (!reader) continue // pruned away since it was listed
      for (let batch = reader.next(); batch; batch = reader.next()) {
        const { events, repeated, misplaced } = rising(batch.events, last)
        last = events.at(-1)?.id ?? last
        const known = offset === 0 && segment === position?.segment
        yield {
          events,
          repeated: known ? 0 : repeated,
          unreadable: batch.unreadable + misplaced,
          position: { segment, offset: batch.offset },
        }
      }
      if (segment !== active && reader.hasTornTail()) {
        yield { events: [], repeated: 0, unreadable: 1, position: { segment, offset: sizeOf(this.path(segment)) } }
      }
    }
  }

  open(segment: number, offset: number): SegmentReader | undefined {
    try {
      return new SegmentReader(this.path(segment), offset, (reference) => this.blobs.get(reference))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Appends events with a single write. Needs the writer lock. When it returns after `durable`, they are on the disk;
   * when it throws, the journal is as it was.
   */
  append(events: readonly Event[], options: { durable: boolean; nowMs: number }): Position {
    const { number, file } = this.#activeSegment(options.nowMs)
    const before = fstatSync(file).size
    const text = (endsTorn(file, before) ? CANCEL : '') + events.map((event) => this.#line(event)).join('')
    const bytes = Buffer.from(text)
    try {
      // One call, never a loop: a line that was cut short is taken back below, not completed later.
      const written = writeSync(file, bytes)
      if (written < bytes.length) throw Object.assign(new Error('write was cut short'), { code: 'ENOSPC' })
      if (options.durable) fdatasyncSync(file)
    } catch (error) {
      takeBack(file, before, bytes.length)
      throw error
    }
    return { segment: number, offset: before + bytes.length }
  }

  /** Ends the active segment, so that it may be pruned. Needs the writer lock. */
  seal(): void {
    const active = this.segments().at(-1)
    if (active !== undefined && sizeOf(this.path(active)) > 0) this.#create(active + 1)
  }

  #firstId(segment: number): EventId | undefined {
    try {
      refuseForeign(this.path(segment))
      const file = openSync(this.path(segment), 'r')
      try {
        return firstEventId(file)
      } finally {
        closeSync(file)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // pruned away since it was listed
      throw error
    }
  }

  #line(event: Event): string {
    const line = encodeEvent(event)
    // A payload of somebody's that looks like a reference is not to be taken for one.
    const isAmbiguous = Object.hasOwn(event.payload, '$blob')
    if (Buffer.byteLength(line) <= MAX_LINE_BYTES && !isAmbiguous) return line
    return encodeEvent({ ...event, payload: { $blob: this.blobs.put(JSON.stringify(event.payload)) } })
  }

  #activeSegment(nowMs: number): { number: number; file: number } {
    const isCurrent =
      this.#active && !existsSync(this.path(this.#active.number + 1)) && existsSync(this.path(this.#active.number))
    if (!this.#active || !isCurrent) {
      const number = this.segments().at(-1)
      if (number === undefined) return this.#create(1)
      refuseForeign(this.path(number))
      this.#adopt(number, openSync(this.path(number), 'a+', 0o600))
    }
    const active = this.#active as { number: number; file: number }
    return this.#isFull(active.file, nowMs) ? this.#create(active.number + 1) : active
  }

  /** Full by size, or a day old: a quiet home must be able to prune as well. */
  #isFull(file: number, nowMs: number): boolean {
    const { size } = fstatSync(file)
    if (size >= SEAL_AT_BYTES) return true
    const first = firstEventId(file)
    return first !== undefined && nowMs - msOfEventId(first) > DAY_MS
  }

  #create(number: number): { number: number; file: number } {
    makeDirectory(this.directory)
    const file = openSync(this.path(number), 'a+', 0o600)
    syncPath(this.directory)
    return this.#adopt(number, file)
  }

  #adopt(number: number, file: number): { number: number; file: number } {
    if (this.#active) closeSync(this.#active.file)
    this.#active = { number, file }
    return this.#active
  }

  [Symbol.dispose](): void {
    if (this.#active) closeSync(this.#active.file)
    this.#active = undefined
  }
}

/**
 * Events in the order of their ids. One whose id does not rise is a copy. One whose id leaps over several of those that follow it has a
 * damaged id: taken as it is, it would make copies of them.
 */
function rising(
  all: readonly Event[],
  last: EventId | undefined,
): { events: Event[]; repeated: number; misplaced: number } {
  let highest: string = last ?? ''
  let misplaced = 0
  const events = all.filter(({ id }, at) => {
    if (id <= highest) return false
    if ((all[at + 1]?.id ?? id) < id && leaps(id, highest, all, at + 1)) {
      misplaced += 1
      return false
    }
    highest = id
    return true
  })
  return { events, repeated: all.length - events.length - misplaced, misplaced }
}

/** How many of those that follow are asked. */
const FOLLOWERS = 9

/** Whether two or more of the next events that are no copies would be lost for this one. None of them can be a copy of one before it. */
function leaps(id: string, highest: string, all: readonly Event[], from: number): boolean {
  let [below, seen] = [0, 0]
  for (let at = from; at < all.length && seen < FOLLOWERS && below < 2; at += 1) {
    const next = all[at]?.id ?? ''
    if (next <= highest) continue
    seen += 1
    if (next < id) below += 1
  }
  return below === 2
}

/** It stands first in the first line. */
function firstEventId(file: number): EventId | undefined {
  const head = Buffer.alloc(64)
  const read = readSync(file, head, 0, head.length, 0)
  const id = /^\{"id":"([0-9a-f-]{36})"/.exec(head.toString('latin1', 0, read))?.[1]
  return isEventId(id) ? id : undefined
}

function endsTorn(file: number, size: number): boolean {
  if (size === 0) return false
  const byte = Buffer.alloc(1)
  return readSync(file, byte, 0, 1, size - 1) === 1 && byte[0] !== NEWLINE
}

/** Only while nothing else came behind: a line of somebody who does not know our lock is not ours to cut. */
function takeBack(file: number, before: number, length: number): void {
  try {
    if (fstatSync(file).size <= before + length) ftruncateSync(file, before)
  } catch {
    // The torn line stays; every reader skips it.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
