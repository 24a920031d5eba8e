import { commonness } from './pair-frequency.js'

/** A short text that every match of some rule contains. */
export interface Anchor {
  readonly text: string
  /** Upper and lower case are the same. */
  readonly anyCase: boolean
}

/** Called where an anchor stands: which one, and at what offset of the text. */
export type OnAnchor = (anchor: number, at: number) => void

const CHUNK = 1 << 16
const MARGIN = 64
const SHORT = 64
/** Where the lower half of a word lies in memory: first, on all machines but a few. */
const LOW_HALF = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 2
/** Where a pair stands in an anchor, and the byte beside the pair: behind it, or before it where the anchor ends. */
interface Place {
  anchor: number
  offset: number
  beside: number
  /** The bit that tells upper from lower case, and the byte with that bit set. */
  fold: number
  byte: number
}

/**
 * Finds all anchors in one pass that looks at every second pair of characters only: whatever is at least three characters long
 * has a pair at an even offset and one at an odd offset, so one table lookup per two characters is enough to rule out
 * most of a text. Where it strikes, a second table of three characters rules out most of the rest, before anything is called.
 * Characters are narrowed to a byte for the lookups, and compared in full in the end.
 *
 * Measured on generated session logs: five times as fast as one regular expression with the same alternatives.
 */
export class AnchorScan {
  readonly #anchors: readonly Anchor[]
  readonly #longest: number
  /** Whether some anchor has this pair of bytes. Apart from the buckets, so that the hot loop stays within a small table. */
  readonly #strikes = new Uint8Array(1 << 16)
  /** Whether some anchor has this pair with this byte beside it, by a hash: a clash costs time, never a match. */
  readonly #triples = new Uint8Array(1 << 16)
  /** The places of a pair, by the number of its bucket. */
  readonly #bucketOf = new Uint16Array(1 << 16)
  readonly #buckets: Place[][] = []
  /** With room for the byte before the first and after the last. */
  readonly #bytes = Buffer.from(new ArrayBuffer(CHUNK + 2 * MARGIN))
  readonly #words = new Int32Array(this.#bytes.buffer, MARGIN, CHUNK / 4)

  constructor(anchors: readonly Anchor[]) {
    this.#anchors = anchors.map(({ text, anyCase }) => ({ text: anyCase ? text.toLowerCase() : text, anyCase }))
    this.#longest = Math.max(...anchors.map(({ text }) => text.length))
    // Short anchors have no choice of pairs; long ones then choose among those that strike already.
    const byLength = this.#anchors
      .map((anchor, index) => ({ anchor, index }))
      .sort((a, b) => a.anchor.text.length - b.anchor.text.length)
    for (const { anchor, index } of byLength) {
      for (const parity of [0, 1]) this.#place(index, this.#cheapestPair(anchor, parity))
    }
  }

  scan(text: string, onAnchor: OnAnchor): void {
    if (text.length <= SHORT) {
      this.#scanShort(text, onAnchor)
      return
    }
    if (text.length <= CHUNK) {
      this.#scanChunk(text, 0, text, text.length, onAnchor)
      return
    }
    // Chunks overlap by an anchor's length; an anchor belongs to the chunk in whose first part it starts.
    const step = CHUNK - this.#longest
    for (let from = 0; from < text.length; from += step) {
      this.#scanChunk(text, from, text.slice(from, from + CHUNK), Math.min(step, text.length - from), onAnchor)
    }
  }

  /** Character by character: for a short text, copying it into bytes costs more than it saves. */
  #scanShort(text: string, onAnchor: OnAnchor): void {
    const strikes = this.#strikes
    for (let at = 0; at + 1 < text.length; at += 2) {
      const first = text.charCodeAt(at) & 0xff
      const second = text.charCodeAt(at + 1) & 0xff
      const pair = LOW_HALF === 0 ? first | (second << 8) : second | (first << 8)
      if (strikes[pair] === 1) this.#report(text, 0, text.length, at, pair, onAnchor)
    }
  }

  #scanChunk(text: string, from: number, chunk: string, own: number, onAnchor: OnAnchor): void {
    const strikes = this.#strikes
    const triples = this.#triples
    const words = this.#words
    const bytes = this.#bytes
    const count = (bytes.write(chunk, MARGIN, 'latin1') + 3) >> 2
    for (let word = 0; word < count; word += 1) {
      const four = words[word] as number
      const low = four & 0xffff
      const high = four >>> 16
      const lowStrikes = strikes[low] as number
      if ((lowStrikes | (strikes[high] as number)) === 0) continue
      const at = MARGIN + word * 4 + LOW_HALF
      if (lowStrikes === 1) {
        const next = triples[tripleWithNext(low, bytes[at + 2] as number)] as number
        const previous = triples[tripleWithPrevious(low, bytes[at - 1] as number)] as number
        if ((next | previous) !== 0) this.#report(text, from, own, at - MARGIN, low, onAnchor)
      }
      if (strikes[high] === 1) {
        const other = at + 2 - 2 * LOW_HALF
        const next = triples[tripleWithNext(high, bytes[other + 2] as number)] as number
        const previous = triples[tripleWithPrevious(high, bytes[other - 1] as number)] as number
        if ((next | previous) !== 0) this.#report(text, from, own, other - MARGIN, high, onAnchor)
      }
    }
  }

  #report(text: string, from: number, own: number, pairAt: number, pair: number, onAnchor: OnAnchor): void {
    const places = this.#buckets[this.#bucketOf[pair] as number] as Place[]
    for (let k = 0; k < places.length; k += 1) {
      const place = places[k] as Place
      const start = pairAt - place.offset
      if (start < 0 || start >= own) continue
      const code = text.charCodeAt(from + pairAt + place.beside) & 0xff
      if ((code | place.fold) !== place.byte) continue
      if (this.#standsAt(place.anchor, text, from + start)) onAnchor(place.anchor, from + start)
    }
  }

  #standsAt(index: number, text: string, at: number): boolean {
    const { text: wanted, anyCase } = this.#anchors[index] as Anchor
    if (!anyCase) return text.startsWith(wanted, at)
    for (let k = 0; k < wanted.length; k += 1) {
      const code = text.charCodeAt(at + k)
      const folded = code >= 65 && code <= 90 ? code + 32 : code
      if (folded !== wanted.charCodeAt(k)) return false
    }
    return true
  }

  #cheapestPair({ text, anyCase }: Anchor, parity: number): number {
    const cost = (offset: number): number => {
      const isFree = pairsAt(text, offset, anyCase).every((pair) => this.#strikes[pair] === 1)
      return isFree ? -1 : commonness(text.slice(offset, offset + 2), anyCase)
    }
    let best = parity
    for (let offset = parity; offset + 1 < text.length; offset += 2) if (cost(offset) < cost(best)) best = offset
    return best
  }

  #place(anchor: number, offset: number): void {
    const { text, anyCase } = this.#anchors[anchor] as Anchor
    const beside = offset + 2 < text.length ? 2 : -1
    const letter = text[offset + beside] ?? ''
    const fold = anyCase && /[a-z]/.test(letter) ? 0x20 : 0
    const place = { anchor, offset, beside, fold, byte: letter.charCodeAt(0) | fold }
    for (const pair of pairsAt(text, offset, anyCase)) {
      if (this.#strikes[pair] === 0) this.#bucketOf[pair] = this.#buckets.push([]) - 1
      this.#strikes[pair] = 1
      this.#buckets[this.#bucketOf[pair] as number]?.push(place)
      this.#markTriples(pair, letter, beside > 0, anyCase)
    }
  }

  #markTriples(pair: number, letter: string, isNext: boolean, anyCase: boolean): void {
    for (const one of cases(letter, anyCase)) {
      const byte = one.charCodeAt(0)
      this.#triples[isNext ? tripleWithNext(pair, byte) : tripleWithPrevious(pair, byte)] = 1
    }
  }
}

const tripleWithNext = (pair: number, byte: number): number =>
  (Math.imul(pair, 0x9e35) ^ Math.imul(byte, 0x6a3d)) & 0xffff
const tripleWithPrevious = (pair: number, byte: number): number =>
  (Math.imul(pair, 0x85eb) ^ Math.imul(byte, 0xc2b3) ^ 0x5bd1) & 0xffff

/** The two bytes at an offset as one number, in the machine's own order, in every spelling. */
function pairsAt(text: string, offset: number, anyCase: boolean): number[] {
  const bytes = new Uint8Array(2)
  const pair = new Uint16Array(bytes.buffer)
  return [...cases(text[offset], anyCase)].flatMap((first) =>
    [...cases(text[offset + 1], anyCase)].map((second) => {
      bytes.set([first.charCodeAt(0), second.charCodeAt(0)])
      return pair[0] as number
    }),
  )
}

const cases = (letter: string | undefined, anyCase: boolean): Set<string> =>
  new Set(anyCase ? [letter ?? '', (letter ?? '').toUpperCase()] : [letter ?? ''])
