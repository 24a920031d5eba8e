import {
  decodedRuns,
  isVisibleAscii,
  type PurgeRule,
  printedSpans,
  readingsOf,
  type SecretPrint,
  type Sought,
  soughtForAll,
} from '../privacy/index.js'

/** Characters that distinguish a text from most others before it is compared. */
const PREFIX = 6

/** Counts texts in any bytes, whatever they belong to: free pages, logs of databases, what other programs wrote. */
export class RawSearch {
  readonly #rules: readonly PurgeRule[]
  readonly #known: readonly string[]
  readonly #literals = new Map<string, string[]>()
  readonly #prints: SecretPrint[]
  /** The longest that is looked for, in bytes of any of its encodings. */
  readonly reach: number
  readonly #sought: Sought

  constructor(rules: readonly PurgeRule[], literals: Iterable<string>) {
    const known = [...literals].filter((text) => text.length >= PREFIX)
    this.#rules = rules
    this.#known = known
    for (const text of known) {
      const prefix = text.slice(0, PREFIX)
      this.#literals.set(prefix, [...(this.#literals.get(prefix) ?? []), text])
    }
    this.#prints = rules.flatMap((rule) => (rule.kind === 'secret' ? [rule.print] : []))
    const lengths = [...known.map((text) => text.length), ...this.#prints.map(({ length }) => length)]
    this.#sought = soughtForAll([
      ...known.map((text) => ({ shortest: text.length, isAscii: isVisibleAscii(text) })),
      ...this.#prints.map(({ length, ascii }) => ({ shortest: length, isAscii: ascii === true })),
    ])
    this.reach = lengths.reduce((longest, length) => Math.max(longest, length), 0) * 12
  }

  get isEmpty(): boolean {
    return this.#literals.size === 0 && this.#prints.length === 0
  }

  /** In the reading that has the most of them: the others are the same bytes, read otherwise. */
  countIn(text: string): number {
    if (this.isEmpty) return 0
    return readingsOf(text).reduce(
      (most, reading) => Math.max(most, this.#count(reading) + this.#countEncoded(reading)),
      0,
    )
  }

  /**
   * The same without what these texts have in other letters: an index of words keeps them in small ones, so that `wombat` is in its
   * bytes for as long as some text says `Wombat`.
   */
  withoutWordsOf(texts: Iterable<string>): RawSearch {
    let [rules, known] = [this.#rules, this.#known]
    for (const text of texts) {
      const small = text.toLowerCase()
      known = known.filter((literal) => !small.includes(literal))
      rules = rules.filter((rule) => rule.kind !== 'secret' || printedSpans(small, rule.print).length === 0)
    }
    return new RawSearch(rules, known)
  }

  #count(text: string): number {
    const printed = this.#prints.reduce((sum, print) => sum + printedSpans(text, print).length, 0)
    return printed + (this.#literals.size <= FEW ? this.#countEach(text) : this.#countAll(text))
  }

  #countEncoded(text: string): number {
    let count = 0
    for (const run of decodedRuns(text, this.#sought)) count += this.#count(run.text)
    return count
  }

  #countEach(text: string): number {
    let count = 0
    for (const literal of [...this.#literals.values()].flat()) {
      for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) count += 1
    }
    return count
  }

  #countAll(text: string): number {
    let count = 0
    for (let at = 0; at + PREFIX <= text.length; at += 1) {
      const candidates = this.#literals.get(text.slice(at, at + PREFIX))
      if (candidates?.some((literal) => text.startsWith(literal, at))) count += 1
    }
    return count
  }
}

/** Up to this many, looking for each by itself is quicker. */
const FEW = 40
