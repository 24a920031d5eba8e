import { commonness } from './pair-frequency.js'

/** A short text that every match of some rule contains. */
export interface Anchor {
  readonly text: string
  /** Upper and lower case are the same. */
  readonly anyCase: boolean
  /** One of these characters comes next. Needed where the text has three characters only, which is not much to go by. */
  readonly next?: string
}

/** Called where an anchor stands: which one, and at what offset of the text. */
export type OnAnchor = (anchor: number, at: number) => void

const CHUNK = 1 << 16
/** Up to here a text is looked at character by character. */
export const SHORT = 64
const SLOT_BITS = 18
const HEAD_BITS = 12
const LEAST = 4
/**
 * Of 20,000 factors the one by which the fewest triples of source code, documentation and session logs share a slot with one that
 * is looked for: 0.1 % of them; of other factors, 1 %. A rule more changes little.
 */
const SLOT_FACTOR = 0xfdf0bff1
const HEAD_FACTOR = 0x9e3779b1
/** Before the text, so that there is a byte before its first. */
const LEAD = 4

/** Controls that no line is made of, and what begins an escape. Of wide characters the lower half is looked at. */
const ODD = Uint8Array.from({ length: 256 }, (_, code) =>
  (code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 92 || code === 94 ? 1 : 0,
)

/** A row of `#triples`. */
const TRIPLE = { three: 0, before: 1, behind: 2, place: 3, next: 4, size: 5 } as const
/** A row of `#places`. */
const PLACE = { anchor: 0, offset: 1, next: 2, size: 3 } as const
/** Every character, where a mask says which may stand beside a triple. */
const ANY = -1

/**
 * Finds all anchors in one pass that looks at the three characters from every second offset: whatever is at least four
 * characters long has three of them at an even offset and three at an odd one, so one table lookup per two characters is
 * enough to rule out nearly all of a text. Characters are narrowed to a byte for the lookup, and compared in full where it
 * strikes. A hash that clashes costs time, never a match.
 *
 * Measured on generated session logs: five times as fast as one regular expression with the same alternatives.
 */
export class AnchorScan {
  readonly #anchors: readonly Anchor[]
  readonly #longest: number
  /** One bit per slot: whether some anchor has three characters that hash to it. */
  readonly #strikes = new Int32Array(1 << (SLOT_BITS - 5))
  /**
   * What is looked for: three characters; masks of the characters that may stand before and behind them, by their lowest five
   * bits; the first of their places; the next row with the same head. Most strikes end at a mask. Rows of numbers, because a strike
   * must not read memory that is far away.
   */
  readonly #triples: Int32Array
  /** The first row for what hashes to it; 0 is none. */
  readonly #heads = new Uint16Array(1 << HEAD_BITS)
  /** Where triples are in anchors: which anchor, at what offset, and the next place of the same triple. */
  readonly #places: Int32Array
  readonly #bytes = Buffer.from(new ArrayBuffer(CHUNK + LEAD + 8))
  readonly #words = new Int32Array(this.#bytes.buffer)

  constructor(anchors: readonly Anchor[]) {
    this.#anchors = anchors.map((one) => (one.anyCase ? { ...one, text: one.text.toLowerCase() } : one))
    this.#longest = Math.max(...anchors.map(({ text }) => text.length)) + 1
    const rows = new Rows(TRIPLE.size)
    const places = new Rows(PLACE.size)
    for (const [index, anchor] of this.#anchors.entries()) {
      eachTriple(anchor, (three, offset, before, behind) => {
        const row = this.#rowOf(three, rows.numbers) || this.#addRow(three, rows)
        rows.numbers[row + TRIPLE.place] = places.add(index, offset, rows.numbers[row + TRIPLE.place] as number)
        rows.numbers[row + TRIPLE.before] = (rows.numbers[row + TRIPLE.before] as number) | before
        rows.numbers[row + TRIPLE.behind] = (rows.numbers[row + TRIPLE.behind] as number) | behind
      })
    }
    this.#triples = Int32Array.from(rows.numbers)
    this.#places = Int32Array.from(places.numbers)
  }

  #addRow(three: number, rows: Rows): number {
    const slot = slotOf(three)
    this.#strikes[slot >>> 5] = (this.#strikes[slot >>> 5] as number) | (1 << (slot & 31))
    const head = headOf(three)
    const row = rows.add(three, 0, 0, 0, this.#heads[head] as number)
    this.#heads[head] = row
    return row
  }

  #rowOf(three: number, rows: { readonly [at: number]: number }): number {
    let row = this.#heads[headOf(three)] as number
    while (row !== 0 && rows[row] !== three) row = rows[row + TRIPLE.next] as number
    return row
  }

  /** False when the text has no control and no backslash or caret: of a short text that is known at no cost. */
  scan(text: string, onAnchor: OnAnchor): boolean {
    if (text.length <= SHORT) return this.#scanShort(text, onAnchor)
    if (text.length <= CHUNK) {
      this.#scanChunk(text, 0, text, text.length, onAnchor)
      return true
    }
    // Chunks overlap by an anchor's length; an anchor belongs to the chunk in whose first part it starts.
    const step = CHUNK - this.#longest
    for (let from = 0; from < text.length; from += step) {
      this.#scanChunk(text, from, text.slice(from, from + CHUNK), Math.min(step, text.length - from), onAnchor)
    }
    return true
  }

  /** Character by character: for a short text, copying it into bytes costs more than it saves. */
  #scanShort(text: string, onAnchor: OnAnchor): boolean {
    const strikes = this.#strikes
    let first = text.charCodeAt(0) & 0xff
    let odd = 0
    for (let at = 0; at + 2 < text.length; at += 2) {
      const second = text.charCodeAt(at + 1) & 0xff
      const third = text.charCodeAt(at + 2) & 0xff
      odd |= (ODD[first] as number) | (ODD[second] as number)
      const three = first | (second << 8) | (third << 16)
      const slot = slotOf(three)
      if ((((strikes[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0) {
        const row = this.#rowBeside(three, text.charCodeAt(at - 1), text.charCodeAt(at + 3))
        if (row !== 0) this.#report(text, 0, text.length, at, row, onAnchor)
      }
      first = third
    }
    return (odd | (ODD[first] as number) | (ODD[text.charCodeAt(text.length - 1) & 0xff] as number)) !== 0
  }

  #scanChunk(text: string, from: number, chunk: string, own: number, onAnchor: OnAnchor): void {
    const strikes = this.#strikes
    const words = this.#words
    const bytes = this.#bytes
    // The first byte is one that stands before the text.
    const last = (bytes.write(chunk, LEAD, 'latin1') + LEAD + 3) >> 2
    let four = words[LEAD >> 2] as number
    for (let word = LEAD >> 2; word < last; word += 1) {
      const next = words[word + 1] as number
      const low = four & 0xffffff
      const high = ((four >>> 16) | (next << 16)) & 0xffffff
      four = next
      const lowSlot = slotOf(low)
      const highSlot = slotOf(high)
      const lowBit = (strikes[lowSlot >>> 5] as number) >>> (lowSlot & 31)
      const highBit = (strikes[highSlot >>> 5] as number) >>> (highSlot & 31)
      if (((lowBit | highBit) & 1) === 0) continue
      const at = word * 4
      if ((lowBit & 1) === 1) {
        const row = this.#rowBeside(low, bytes[at - 1] as number, bytes[at + 3] as number)
        if (row !== 0) this.#report(text, from, own, at - LEAD, row, onAnchor)
      }
      if ((highBit & 1) === 1) {
        const row = this.#rowBeside(high, bytes[at + 1] as number, bytes[at + 5] as number)
        if (row !== 0) this.#report(text, from, own, at + 2 - LEAD, row, onAnchor)
      }
    }
  }

  /** The row of a triple, if these characters may stand beside it. What is not in the text is no number, and no anchor needs it. */
  #rowBeside(three: number, before: number, behind: number): number {
    const triples = this.#triples
    const row = this.#rowOf(three, triples)
    const isMet =
      ((triples[row + TRIPLE.before] as number) >>> (before & 31)) &
      ((triples[row + TRIPLE.behind] as number) >>> (behind & 31))
    return (isMet & 1) === 0 ? 0 : row
  }

  #report(text: string, from: number, own: number, at: number, row: number, onAnchor: OnAnchor): void {
    const places = this.#places
    let place = this.#triples[row + TRIPLE.place] as number
    for (; place !== 0; place = places[place + PLACE.next] as number) {
      const start = at - (places[place + PLACE.offset] as number)
      const anchor = places[place] as number
      if (start >= 0 && start < own && this.#standsAt(anchor, text, from + start)) onAnchor(anchor, from + start)
    }
  }

  #standsAt(index: number, text: string, at: number): boolean {
    const { text: wanted, anyCase } = this.#anchors[index] as Anchor
    for (let k = 0; k < wanted.length; k += 1) {
      const code = text.charCodeAt(at + k)
      const folded = anyCase && code >= 65 && code <= 90 ? code + 32 : code
      if (folded !== wanted.charCodeAt(k)) return false
    }
    return true
  }
}

/** Rows of numbers that are being made. The first one is none, so that 0 can say so. */
class Rows {
  readonly numbers: number[]
  constructor(size: number) {
    this.numbers = Array<number>(size).fill(0)
  }
  add(...row: number[]): number {
    return this.numbers.push(...row) - row.length
  }
}

/**
 * Three characters as one number, where they stand in an anchor (-1 when the first of them stands before it), and masks of what
 * the anchor has beside them.
 */
type OnTriple = (three: number, offset: number, before: number, behind: number) => void

/** The triples to look for: for both parities, in every spelling. */
function eachTriple({ text, anyCase, next }: Anchor, onTriple: OnTriple): void {
  if (text.length + (next ? 1 : 0) < LEAST) throw new Error(`the anchor ${text} is too short`)
  const wanted = Array.from(text, (letter) => casesOf(letter.charCodeAt(0), anyCase))
  if (next === undefined || text.length >= LEAST) {
    for (const parity of [0, 1]) triplesAt(wanted, rarestTriple(text, anyCase, parity), 0, onTriple)
    return
  }
  triplesAt(wanted, 0, 0, onTriple)
  // One parity has two of three characters, and the one behind them or the one before them, whichever strikes less.
  if (commonness(text.slice(0, 2), anyCase) < commonness(text.slice(1), anyCase))
    triplesAt([EVERY_BYTE, ...wanted], 0, 1, onTriple)
  else {
    const codes = Array.from(next, (letter) => letter.charCodeAt(0) & 0xff)
    triplesAt([...wanted, codes], 1, 0, onTriple)
  }
}

/** The triples from an offset of what may stand at each; the anchor itself begins at `start`. */
function triplesAt(letters: readonly (readonly number[])[], offset: number, start: number, onTriple: OnTriple): void {
  const before = maskOf(letters[offset - 1])
  const behind = maskOf(letters[offset + 3])
  for (const first of letters[offset] ?? [])
    for (const second of letters[offset + 1] ?? [])
      for (const third of letters[offset + 2] ?? [])
        onTriple(first | (second << 8) | (third << 16), offset - start, before, behind)
}

const EVERY_BYTE = Array.from({ length: 256 }, (_, code) => code)
const isLetter = (code: number): boolean => code >= 97 && code <= 122
const casesOf = (code: number, anyCase: boolean): number[] =>
  anyCase && isLetter(code) ? [code, code - 32] : [code & 0xff]

/** Which lowest five bits these have. */
const maskOf = (codes: readonly number[] | undefined): number =>
  codes === undefined ? ANY : codes.reduce((mask, code) => mask | (1 << (code & 31)), 0)

const slotOf = (three: number): number => Math.imul(three, SLOT_FACTOR) >>> (32 - SLOT_BITS)
const headOf = (three: number): number => Math.imul(three, HEAD_FACTOR) >>> (32 - HEAD_BITS)

function rarestTriple(text: string, anyCase: boolean, parity: number): number {
  let best = parity
  let least = Number.POSITIVE_INFINITY
  for (let offset = parity; offset + 2 < text.length; offset += 2) {
    const cost = Math.min(
      commonness(text.slice(offset, offset + 2), anyCase),
      commonness(text.slice(offset + 1, offset + 3), anyCase),
    )
    if (cost < least) [best, least] = [offset, cost]
  }
  return best
}
