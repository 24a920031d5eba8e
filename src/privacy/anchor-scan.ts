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
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1
/** From the rarest letter to the commonest, as they come in prose and code. What is not a letter counts as rare. */
const LETTERS = 'qzxjkvwybgfmpucdlhrsnioate'
/** Pairs that prose is full of, the commonest first. */
const COMMON_PAIRS =
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur xp ec ex ho pa us ta la el un ke ss'.split(
    ' ',
  )

/** Where a pair stands in an anchor, with one more byte of that anchor to look at before anything is called. */
interface Place {
  anchor: number
  offset: number
  /** From the pair to the byte, the bit that tells upper from lower case, and the byte with that bit set. */
  witness: number
  fold: number
  byte: number
}

/**
 * Finds all anchors in one pass that looks at every second pair of characters only: whatever is at least three characters long
 * has a pair at an even offset and one at an odd offset, so one table lookup per two characters is enough to rule out
 * nearly all of a text. Characters are narrowed to a byte for the lookup, and compared in full where the lookup strikes.
 *
 * Measured on generated session logs: five times as fast as one regular expression with the same alternatives.
 */
export class AnchorScan {
  readonly #anchors: readonly Anchor[]
  readonly #longest: number
  /** Which bucket of places a pair of bytes can belong to; 0 is none. */
  readonly #bucketOf = new Uint8Array(1 << 16)
  readonly #buckets: Place[][] = [[]]
  /** Room for a witness before the first byte and after the last. */
  readonly #bytes = Buffer.from(new ArrayBuffer(CHUNK + 2 * MARGIN))
  readonly #words = new Int32Array(this.#bytes.buffer, MARGIN, CHUNK / 4)

  constructor(anchors: readonly Anchor[]) {
    this.#anchors = anchors.map(({ text, anyCase }) => ({ text: anyCase ? text.toLowerCase() : text, anyCase }))
    this.#longest = Math.max(...anchors.map(({ text }) => text.length))
    for (const [index, anchor] of this.#anchors.entries()) {
      for (const parity of [0, 1]) this.#place(index, rarestPair(anchor.text, parity))
    }
  }

  scan(text: string, onAnchor: OnAnchor): void {
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

  #scanChunk(text: string, from: number, chunk: string, own: number, onAnchor: OnAnchor): void {
    const bucketOf = this.#bucketOf
    const words = this.#words
    const count = (this.#bytes.write(chunk, MARGIN, 'latin1') + 3) >> 2
    for (let word = 0; word < count; word += 1) {
      const four = words[word] as number
      const first = bucketOf[four & 0xffff] as number
      const second = bucketOf[four >>> 16] as number
      if ((first | second) === 0) continue
      // The lower half of a word is its first pair on every machine that Node runs on (all are little-endian but one).
      const [low, high] = LITTLE_ENDIAN ? [first, second] : [second, first]
      if (low !== 0) this.#report(text, from, own, word * 4, low, onAnchor)
      if (high !== 0) this.#report(text, from, own, word * 4 + 2, high, onAnchor)
    }
  }

  #report(text: string, from: number, own: number, pairAt: number, bucket: number, onAnchor: OnAnchor): void {
    const places = this.#buckets[bucket] as Place[]
    for (let k = 0; k < places.length; k += 1) {
      const place = places[k] as Place
      if (((this.#bytes[MARGIN + pairAt + place.witness] as number) | place.fold) !== place.byte) continue
      const start = pairAt - place.offset
      const { anchor } = place
      if (start >= 0 && start < own && this.#standsAt(anchor, text, from + start)) onAnchor(anchor, from + start)
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

  #place(anchor: number, offset: number): void {
    const { text, anyCase } = this.#anchors[anchor] as Anchor
    const place = { anchor, offset, ...witnessFor(text, offset, anyCase) }
    const pair = new Uint8Array(2)
    const view = new Uint16Array(pair.buffer) // the machine's own byte order, as in the scan
    for (const first of cases(text[offset], anyCase)) {
      for (const second of cases(text[offset + 1], anyCase)) {
        pair[0] = first.charCodeAt(0)
        pair[1] = second.charCodeAt(0)
        this.#addTo(view[0] as number, place)
      }
    }
  }

  /** Pairs with the same places share a bucket, so that a byte is enough to name it. */
  #addTo(pair: number, place: Place): void {
    const places = [...(this.#buckets[this.#bucketOf[pair] as number] as Place[]), place]
    const same = this.#buckets.findIndex((bucket) => isSame(bucket, places))
    const bucket = same >= 0 ? same : this.#buckets.push(places) - 1
    if (bucket > 255) this.#shareLast(pair, place)
    else this.#bucketOf[pair] = bucket
  }

  /** Past 255 buckets the rest go into the last one: slower where it strikes, never wrong. */
  #shareLast(pair: number, place: Place): void {
    this.#buckets.pop()
    const before = this.#buckets[this.#bucketOf[pair] as number] as Place[]
    const last = this.#buckets[255] as Place[]
    for (const one of [...before, place]) if (!last.some((other) => isSame([other], [one]))) last.push(one)
    this.#bucketOf[pair] = 255
  }
}

const cases = (letter: string | undefined, anyCase: boolean): Set<string> =>
  new Set(anyCase ? [letter ?? '', (letter ?? '').toUpperCase()] : [letter ?? ''])

/** The anchor's rarest character outside the pair. */
function witnessFor(text: string, offset: number, anyCase: boolean): Pick<Place, 'witness' | 'fold' | 'byte'> {
  const others = Array.from(text, (_, k) => k).filter((k) => k < offset || k > offset + 1)
  const at = others.reduce((best, k) => (weight(text[k]) < weight(text[best]) ? k : best), others[0] ?? 0)
  const fold = anyCase && /[a-z]/.test(text[at] ?? '') ? 0x20 : 0
  return { witness: at - offset, fold, byte: text.charCodeAt(at) | fold }
}

function rarestPair(text: string, parity: number): number {
  let best = parity
  for (let offset = parity; offset + 1 < text.length; offset += 2) {
    if (commonness(text, offset) < commonness(text, best)) best = offset
  }
  return best
}

function commonness(text: string, offset: number): number {
  const rank = COMMON_PAIRS.indexOf(text.slice(offset, offset + 2))
  return rank < 0 ? weight(text[offset]) * weight(text[offset + 1]) : 10_000 - rank
}
const weight = (letter: string | undefined): number => LETTERS.indexOf(letter ?? '') + 3

const isSame = (a: readonly Place[], b: readonly Place[]): boolean =>
  a.length === b.length && a.every((place, k) => place.anchor === b[k]?.anchor && place.offset === b[k]?.offset)
