import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { refuseForeign } from '../disk/index.js'
import type { Event } from '../model/index.js'
import { decodeLine } from './event-line.js'

/** A place in the journal: everything before it has been read. */
export interface Position {
  segment: number
  offset: number
}

/** Some lines, read in order. */
export interface Batch {
  events: Event[]
  unreadable: number
  /** The offset behind the last whole line. */
  offset: number
}

export const segmentName = (number: number): string => `${String(number).padStart(8, '0')}.jsonl`

export function segmentNumber(name: string): number | undefined {
  return /^\d{8}\.jsonl$/.test(name) ? Number.parseInt(name, 10) : undefined
}

const CHUNK_BYTES = 512 * 1024
/** A line longer than this is no event of ours: it is skipped without being held in memory. */
const MAX_LINE_READ = 16 * 1024 * 1024
/** What is too large for a line is in a file of its own: a batch ends when this much of that was read. */
const MOST_OPENED = 4 * 1024 * 1024
const NEWLINE = 10

/**
 * Reads one segment forward. It keeps the file open, so a segment that is pruned (replaced) meanwhile is still read to
 * the end as it was. A last line without its newline is being written, or torn: it is left for the next call.
 */
export class SegmentReader implements Disposable {
  readonly #file: number
  #offset: number

  constructor(
    path: string,
    offset: number,
    private readonly openBlob: (reference: unknown) => unknown,
  ) {
    refuseForeign(path)
    this.#file = openSync(path, 'r')
    this.#offset = offset
  }

  get offset(): number {
    return this.#offset
  }

  /** The next lines, or undefined at the end. `limit` stops at an offset that is known to end a line. */
  next(limit = Number.POSITIVE_INFINITY): Batch | undefined {
    let want = CHUNK_BYTES
    for (;;) {
      const buffer = Buffer.allocUnsafe(Math.min(want, Math.max(0, limit - this.#offset)))
      const size = this.#fill(buffer)
      if (size === 0) return undefined
      const end = buffer.subarray(0, size).lastIndexOf(NEWLINE)
      if (end >= 0) return this.#decode(buffer.subarray(0, end + 1))
      if (size < buffer.length || buffer.length < want) return undefined // an unfinished last line
      if (want >= MAX_LINE_READ) return this.#skipLine()
      want *= 4
    }
  }

  /** For a sealed segment: whether bytes are left that never became a line. */
  hasTornTail(): boolean {
    return fstatSync(this.#file).size > this.#offset
  }

  #fill(buffer: Buffer): number {
    let size = 0
    while (size < buffer.length) {
      const read = readSync(this.#file, buffer, size, buffer.length - size, this.#offset + size)
      if (read === 0) break
      size += read
    }
    return size
  }

  #decode(bytes: Buffer): Batch {
    const batch: Batch = { events: [], unreadable: 0, offset: this.#offset + bytes.length }
    let opened = 0
    const openBlob = (reference: unknown): unknown => {
      opened += (reference as { bytes?: number } | null)?.bytes ?? 0
      return this.openBlob(reference)
    }
    for (const [at, line] of bytes
      .toString('utf8', 0, bytes.length - 1)
      .split('\n')
      .entries()) {
      if (line === '') continue
      const reading = decodeLine(line, openBlob)
      if (reading.kind === 'event') batch.events.push(reading.event)
      else batch.unreadable += 1
      if (opened < MOST_OPENED) continue
      batch.offset = this.#offset + endOfLine(bytes, at)
      break
    }
    this.#offset = batch.offset
    return batch
  }

  #skipLine(): Batch | undefined {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = this.#offset; ; ) {
      const read = readSync(this.#file, buffer, 0, buffer.length, at)
      if (read === 0) return undefined
      const newline = buffer.subarray(0, read).indexOf(NEWLINE)
      if (newline >= 0) {
        this.#offset = at + newline + 1
        return { events: [], unreadable: 1, offset: this.#offset }
      }
      at += read
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** The offset behind a line, counted from 0. */
function endOfLine(bytes: Buffer, line: number): number {
  let end = 0
  for (let at = 0; at <= line; at += 1) end = bytes.indexOf(NEWLINE, end) + 1
  return end
}
