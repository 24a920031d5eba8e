const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const LETTER_U = 0x75

const isOpening = (byte: number): boolean => byte === 0x7b || byte === 0x5b // { [
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d // } ]

export interface Keep {
  /** Of each text. */
  bytes: number
  /** Of each list or object. */
  items: number
  /** Of it all: beyond this there is no result. */
  total: number
}

/**
 * Copies JSON while cutting every long text and every long list, so that a line of any length becomes one that can be
 * parsed, with its structure, ids and numbers untouched. Takes the line in pieces: the line itself is never held.
 */
export class Condenser {
  #out = Buffer.allocUnsafe(64 * 1024)
  #length = 0
  #overflowed = false
  #text: 'outside' | 'kept' | 'cut' = 'outside'
  /** Bytes of the current text kept so far. */
  #kept = 0
  /** Bytes that still belong to the escape being copied, and whether the next is the one that says which escape. */
  #escape = 0
  #escapeHead = false
  #skipNext = false
  /** Items seen in each list or object that is open. */
  #items: number[] = [0]
  /** How many are open inside the list whose rest is being left out; -1 when none is. */
  #leftOut = -1

  constructor(private readonly keep: Keep) {}

  push(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0
      if (this.#text === 'outside') this.#structure(byte)
      else if (this.#text === 'kept') this.#copyText(byte)
      else if (this.#skipNext) this.#skipNext = false
      else if (byte === BACKSLASH) this.#skipNext = true
      else if (byte === QUOTE) this.#closeText()
    }
  }

  /** The condensed line, or undefined when even that is longer than allowed. */
  finish(): Buffer | undefined {
    return this.#overflowed ? undefined : this.#out.subarray(0, this.#length)
  }

  #structure(byte: number): void {
    if (this.#leftOut >= 0) {
      this.#leaveOut(byte)
      return
    }
    if (byte === COMMA) {
      const items = (this.#items.at(-1) ?? 0) + 1
      this.#items[this.#items.length - 1] = items
      if (items >= this.keep.items) {
        this.#leftOut = 0
        return
      }
    } else if (isOpening(byte)) this.#items.push(0)
    else if (isClosing(byte) && this.#items.length > 1) this.#items.pop()
    this.#put(byte)
    if (byte === QUOTE) this.#openText('kept')
  }

  /** Until the list ends in which we stopped. */
  #leaveOut(byte: number): void {
    if (byte === QUOTE) this.#openText('cut')
    else if (isOpening(byte)) this.#leftOut += 1
    else if (isClosing(byte)) {
      this.#leftOut -= 1
      if (this.#leftOut < 0) {
        if (this.#items.length > 1) this.#items.pop()
        this.#put(byte)
      }
    }
  }

  #openText(text: 'kept' | 'cut'): void {
    this.#text = text
    this.#kept = 0
    this.#skipNext = false
  }

  #copyText(byte: number): void {
    if (this.#escape > 0) {
      this.#escape -= 1
      if (this.#escapeHead && byte === LETTER_U) this.#escape = 4
      this.#escapeHead = false
      this.#keepByte(byte)
      return
    }
    if (byte === QUOTE) {
      this.#closeText()
      return
    }
    // A cut may fall only between characters: not inside an escape, not before a UTF-8 continuation byte.
    if (this.#kept >= this.keep.bytes && (byte & 0xc0) !== 0x80) {
      this.#text = 'cut'
      this.#skipNext = byte === BACKSLASH
      return
    }
    if (byte === BACKSLASH) {
      this.#escape = 1
      this.#escapeHead = true
    }
    this.#keepByte(byte)
  }

  #closeText(): void {
    this.#text = 'outside'
    if (this.#leftOut < 0) this.#put(QUOTE)
  }

  #keepByte(byte: number): void {
    this.#kept += 1
    this.#put(byte)
  }

  #put(byte: number): void {
    if (this.#length === this.#out.length) {
      if (this.#length >= this.keep.total) {
        this.#overflowed = true
        return
      }
      const larger = Buffer.allocUnsafe(Math.min(this.keep.total, this.#out.length * 2))
      this.#out.copy(larger)
      this.#out = larger
    }
    this.#out[this.#length++] = byte
  }
}
