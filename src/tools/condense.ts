const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75

/**
 * Copies JSON while cutting every text after `keepBytes`, so that a line of any length becomes one that can be parsed,
 * with its structure, ids and numbers untouched. Takes the line in pieces: the line itself is never held.
 */
export class Condenser {
  #out = Buffer.allocUnsafe(64 * 1024)
  #length = 0
  #overflowed = false
  #inText = false
  /** Bytes of the current text kept so far. */
  #kept = 0
  #cutting = false
  /** Bytes that still belong to the escape being copied, and whether the next is the one that says which escape. */
  #escape = 0
  #escapeHead = false
  #skipNext = false

  constructor(
    private readonly keepBytes: number,
    private readonly maxBytes: number,
  ) {}

  push(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0
      if (!this.#inText) {
        this.#put(byte)
        if (byte === QUOTE) {
          this.#inText = true
          this.#kept = 0
          this.#cutting = false
        }
      } else if (this.#cutting) {
        if (this.#skipNext) this.#skipNext = false
        else if (byte === BACKSLASH) this.#skipNext = true
        else if (byte === QUOTE) this.#closeText()
      } else {
        this.#copyInText(byte)
      }
    }
  }

  /** The condensed line, or undefined when even that is longer than `maxBytes`. */
  finish(): Buffer | undefined {
    return this.#overflowed ? undefined : this.#out.subarray(0, this.#length)
  }

  #copyInText(byte: number): void {
    if (this.#escape > 0) {
      this.#escape -= 1
      if (this.#escapeHead && byte === LETTER_U) this.#escape = 4
      this.#escapeHead = false
      this.#keep(byte)
      return
    }
    if (byte === QUOTE) {
      this.#closeText()
      return
    }
    // A cut may fall only between characters: not inside an escape, not before a UTF-8 continuation byte.
    if (this.#kept >= this.keepBytes && (byte & 0xc0) !== 0x80) {
      this.#cutting = true
      this.#skipNext = byte === BACKSLASH
      return
    }
    if (byte === BACKSLASH) {
      this.#escape = 1
      this.#escapeHead = true
    }
    this.#keep(byte)
  }

  #closeText(): void {
    this.#inText = false
    this.#put(QUOTE)
  }

  #keep(byte: number): void {
    this.#kept += 1
    this.#put(byte)
  }

  #put(byte: number): void {
    if (this.#length === this.#out.length) {
      if (this.#length >= this.maxBytes) {
        this.#overflowed = true
        return
      }
      const larger = Buffer.allocUnsafe(Math.min(this.maxBytes, this.#out.length * 2))
      this.#out.copy(larger)
      this.#out = larger
    }
    this.#out[this.#length++] = byte
  }
}
