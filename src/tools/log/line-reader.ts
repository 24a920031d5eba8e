import { readSync } from 'node:fs'
import { Condenser } from './condense.js'

const CHUNK = 256 * 1024
/** Longer lines are condensed while they are read. Four megabytes parse in a blink and hold any screenshot. */
const LONG_LINE = 4 * 1024 * 1024
const CONDENSED_MOST = 16 * 1024 * 1024
/** Enough of each text for a person to recognise it. */
const KEEP = { bytes: 4096, items: Number.POSITIVE_INFINITY, total: CONDENSED_MOST }
/** When that is still too long: ids, model names and counts. */
const KEEP_LESS = { bytes: 96, items: 1_000, total: CONDENSED_MOST }

const NEWLINE = 0x0a

/** Buffers of readers that are done. A fresh one costs more than a small file takes to read. */
const spares: Buffer[] = []

/**
 * A file's lines, one at a time, from a byte offset, in memory that does not grow with the file or with its longest line.
 * Synchronous and pulled: whoever reads decides the pace, and the numbers are those of a plain read loop.
 */
export class LineReader implements Disposable {
  /** The current line without its newline; valid until the next call. Undefined when it was too long even to condense. */
  line: Buffer | undefined
  /** Where the current line begins and where the next one does. */
  start: number
  end: number
  /** Whether the current line was cut to size. */
  condensed = false
  /** False for a last line that has no newline (yet). */
  terminated = true

  #buffer: Buffer = spares.pop() ?? Buffer.allocUnsafe(CHUNK)
  #from = 0
  #to = 0
  #filePosition: number
  #ended = false

  constructor(
    private readonly file: number,
    offset: number,
    /** Nothing from here on is read. */
    private readonly limit = Number.POSITIVE_INFINITY,
  ) {
    this.start = offset
    this.end = offset
    this.#filePosition = offset
  }

  /** After this, neither the reader nor its last line may be used. */
  [Symbol.dispose](): void {
    if (this.#buffer.length === CHUNK && spares.length < 4) spares.push(this.#buffer)
    this.#buffer = Buffer.alloc(0)
    this.line = undefined
    this.#ended = true
    this.#from = this.#to
  }

  /** Steps to the next line; false at the end of the file. */
  next(): boolean {
    this.start = this.end
    this.condensed = false
    let searched = this.#from
    for (;;) {
      const newline = this.#buffer.indexOf(NEWLINE, searched)
      if (newline >= 0 && newline < this.#to) return this.#take(newline, true)
      searched = this.#to
      if (this.#ended) return this.#from < this.#to ? this.#take(this.#to, false) : false
      if (this.#to - this.#from >= LONG_LINE) return this.#takeLong()
      searched -= this.#makeRoom()
      this.#fill()
    }
  }

  #take(to: number, terminated: boolean): boolean {
    this.line = this.#buffer.subarray(this.#from, to)
    this.terminated = terminated
    this.end = this.start + (to - this.#from) + (terminated ? 1 : 0)
    this.#from = terminated ? to + 1 : to
    return true
  }

  #takeLong(): boolean {
    const condenser = new Condenser(KEEP)
    let length = 0
    let newline = -1
    for (;;) {
      const found = this.#buffer.indexOf(NEWLINE, this.#from)
      newline = found >= 0 && found < this.#to ? found : -1
      const to = newline >= 0 ? newline : this.#to
      condenser.push(this.#buffer, this.#from, to)
      length += to - this.#from
      if (newline >= 0 || this.#ended) break
      this.#from = 0
      this.#to = 0
      this.#fill()
    }
    this.terminated = newline >= 0
    this.end = this.start + length + (this.terminated ? 1 : 0)
    this.#from = this.terminated ? newline + 1 : this.#to
    this.line = condenser.finish() ?? this.#condenseHarder(length)
    this.condensed = true
    return true
  }

  /** A line of very many short texts or numbers: read it again from the file and keep less of it. */
  #condenseHarder(length: number): Buffer | undefined {
    const condenser = new Condenser(KEEP_LESS)
    const piece = Buffer.allocUnsafe(CHUNK)
    for (let done = 0; done < length; ) {
      const read = readSync(this.file, piece, 0, Math.min(CHUNK, length - done), this.start + done)
      if (read === 0) return undefined
      condenser.push(piece, 0, read)
      done += read
    }
    return condenser.finish()
  }

  /** Moves what is left to the front, or makes the buffer larger; says by how much everything moved. */
  #makeRoom(): number {
    const moved = this.#from
    if (moved > 0) {
      this.#buffer.copyWithin(0, moved, this.#to)
      this.#to -= moved
      this.#from = 0
    } else if (this.#to === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2)
      this.#buffer.copy(larger, 0, 0, this.#to)
      this.#buffer = larger
    }
    return moved
  }

  #fill(): void {
    const room = Math.min(this.#buffer.length - this.#to, this.limit - this.#filePosition)
    const read = room > 0 ? readSync(this.file, this.#buffer, this.#to, room, this.#filePosition) : 0
    this.#filePosition += read
    this.#to += read
    if (read === 0) this.#ended = true
  }
}
