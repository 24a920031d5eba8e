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
const LEAST = 4
/** What texts are full of. None of it may share a slot with an anchor, so the first factor is taken that keeps them apart. */
const EVERYWHERE = [
  '   ',
  '\n  ',
  '  \t',
  '\t\t\t',
  '---',
  '===',
  '***',
  '...',
  '\0\0\0',
  '///',
  '// ',
  '###',
  'the',
  'ing',
  ' th',
]
const FACTORS = [
  0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1, 0x7feb352d, 0x846ca68b, 0x2c1b3c6d,
] as const

/** Controls that no line is made of, and what begins an escape. Of wide characters the lower half is looked at. */
const ODD = Uint8Array.from({ length: 256 }, (_, code) =>
  (code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 92 || code === 94 ? 1 : 0,
)

/** Where three characters stand in an anchor. */
interface Place {
  anchor: number
  offset: number
  /** The anchor's first character, and the bit that tells its cases apart: looked at before anything is called. */
  lead: number
  fold: number
}

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
  readonly #factor: number
  /** Which bucket of places a slot has; bucket 0 is empty. */
  readonly #bucketOf = new Uint16Array(1 << SLOT_BITS)
  readonly #buckets: Place[][] = [[]]
  readonly #bytes = Buffer.from(new ArrayBuffer(CHUNK + 8))
  readonly #words = new Int32Array(this.#bytes.buffer)

  constructor(anchors: readonly Anchor[]) {
    this.#anchors = anchors.map(({ text, anyCase }) => ({ text: anyCase ? text.toLowerCase() : text, anyCase }))
    this.#longest = Math.max(...anchors.map(({ text }) => text.length)) + 1
    const triples = anchors.map(triplesOf)
    this.#factor = FACTORS.find((factor) => !this.#clashes(triples, factor)) ?? FACTORS[0]
    for (const [anchor, found] of triples.entries()) this.#place(anchor, found)
  }

  /** Whether something that texts are full of would strike without being in an anchor. */
  #clashes(triples: readonly (readonly Triple[])[], factor: number): boolean {
    const everywhere = new Map(
      EVERYWHERE.map((three) => {
        const [first = 0, second = 0, third = 0] = Array.from(three, (letter) => letter.charCodeAt(0))
        return [slotOf(factor, first, second, third), three.slice(0, 2)]
      }),
    )
    return triples.some((found, anchor) =>
      found.some(({ three }) => {
        const two = everywhere.get(slotOfThree(factor, three))
        return two !== undefined && !this.#anchors[anchor]?.text.includes(two)
      }),
    )
  }

  #place(anchor: number, triples: readonly Triple[]): void {
    const { text, anyCase } = this.#anchors[anchor] as Anchor
    const fold = anyCase && /[a-z]/.test(text.charAt(0)) ? 0x20 : 0
    const lead = text.charCodeAt(0) | fold
    for (const { three, offset } of triples) {
      const slot = slotOfThree(this.#factor, three)
      if (this.#bucketOf[slot] === 0) this.#bucketOf[slot] = this.#buckets.push([]) - 1
      this.#buckets[this.#bucketOf[slot] as number]?.push({ anchor, offset, fold, lead })
      this.#strikes[slot >>> 5] = (this.#strikes[slot >>> 5] as number) | (1 << (slot & 31))
    }
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
    const factor = this.#factor
    let first = text.charCodeAt(0) & 0xff
    let odd = 0
    for (let at = 0; at + 2 < text.length; at += 2) {
      const second = text.charCodeAt(at + 1) & 0xff
      const third = text.charCodeAt(at + 2) & 0xff
      odd |= (ODD[first] as number) | (ODD[second] as number)
      const slot = slotOf(factor, first, second, third)
      if ((((strikes[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0)
        this.#report(text, 0, text.length, at, slot, onAnchor)
      first = third
    }
    return (odd | (ODD[first] as number) | (ODD[text.charCodeAt(text.length - 1) & 0xff] as number)) !== 0
  }

  #scanChunk(text: string, from: number, chunk: string, own: number, onAnchor: OnAnchor): void {
    const strikes = this.#strikes
    const factor = this.#factor
    const words = this.#words
    const last = (this.#bytes.write(chunk, 0, 'latin1') + 3) >> 2
    let four = words[0] as number
    for (let word = 0; word < last; word += 1) {
      const next = words[word + 1] as number
      const low = slotOfThree(factor, four & 0xffffff)
      const high = slotOfThree(factor, ((four >>> 16) | (next << 16)) & 0xffffff)
      four = next
      const lowBit = (strikes[low >>> 5] as number) >>> (low & 31)
      const highBit = (strikes[high >>> 5] as number) >>> (high & 31)
      if (((lowBit | highBit) & 1) === 0) continue
      if ((lowBit & 1) === 1) this.#report(text, from, own, word * 4, low, onAnchor)
      if ((highBit & 1) === 1) this.#report(text, from, own, word * 4 + 2, high, onAnchor)
    }
  }

  #report(text: string, from: number, own: number, at: number, slot: number, onAnchor: OnAnchor): void {
    const places = this.#buckets[this.#bucketOf[slot] as number] as Place[]
    for (let k = 0; k < places.length; k += 1) {
      const { anchor, offset, lead, fold } = places[k] as Place
      const start = at - offset
      if (start < 0 || start >= own || (text.charCodeAt(from + start) | fold) !== lead) continue
      if (this.#standsAt(anchor, text, from + start)) onAnchor(anchor, from + start)
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
}

/** Three characters as one number, and where they stand in an anchor. */
interface Triple {
  three: number
  offset: number
}

/** The triples to look for, each once: for both parities, in every spelling. */
function triplesOf({ text, anyCase, next }: Anchor): Triple[] {
  if (text.length + (next ? 1 : 0) < LEAST) throw new Error(`the anchor ${text} is too short`)
  const found = new Map<number, Triple>()
  const folded = anyCase ? text.toLowerCase() : text
  for (const spelling of next ? Array.from(next, (letter) => folded + letter) : [folded]) {
    for (const parity of [0, 1]) {
      const offset = rarestTriple(spelling, anyCase, parity)
      for (const first of cases(spelling, offset, anyCase)) {
        for (const second of cases(spelling, offset + 1, anyCase)) {
          for (const third of cases(spelling, offset + 2, anyCase)) {
            const three = first | (second << 8) | (third << 16)
            found.set(three | (offset << 24), { three, offset })
          }
        }
      }
    }
  }
  return [...found.values()]
}

const slotOf = (factor: number, first: number, second: number, third: number): number =>
  slotOfThree(factor, first | (second << 8) | (third << 16))
const slotOfThree = (factor: number, three: number): number => Math.imul(three, factor) >>> (32 - SLOT_BITS)

function cases(text: string, at: number, anyCase: boolean): number[] {
  const letter = text.charAt(at)
  const [lower, upper] = anyCase ? [letter.toLowerCase(), letter.toUpperCase()] : [letter, letter]
  return (lower === upper ? [lower] : [lower, upper]).map((one) => one.charCodeAt(0) & 0xff)
}

function rarestTriple(text: string, anyCase: boolean, parity: number): number {
  const cost = (offset: number): number =>
    Math.min(
      commonness(text.slice(offset, offset + 2), anyCase),
      commonness(text.slice(offset + 1, offset + 3), anyCase),
    )
  let best = parity
  if (text.length < LEAST + 1) return best
  for (let offset = parity; offset + 2 < text.length; offset += 2) if (cost(offset) < cost(best)) best = offset
  return best
}
