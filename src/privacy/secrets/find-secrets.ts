import { type Span, spansBetweenMarks } from '../mark.js'
import { AnchorScan, SHORT } from './anchor-scan.js'
import { ASSIGNMENT_RULES } from './assignment-rules.js'
import { COMMAND_RULES } from './command-rules.js'
import { hasEscapes, hasHiddenEscapes, withHiddenUnescaped, withoutEscapes } from './escaped-text.js'
import { hasHidden, isHidden, isWide, withoutHidden, withoutSequences } from './hidden-characters.js'
import type { MappedText } from './mapped-text.js'
import { HIDDEN_STOP, NOT_HERE, type Rule } from './rule.js'
import { STRUCTURE_RULES } from './structure-rules.js'
import { TOKEN_RULES } from './token-rules.js'

/** A stretch of text that must not be kept, and the rule that says so. */
export interface Finding extends Span {
  rule: string
}

/** In the order of trust: where two rules find the same stretch, the earlier one names it. */
export const RULES: readonly Rule[] = [...TOKEN_RULES, ...STRUCTURE_RULES, ...COMMAND_RULES, ...ASSIGNMENT_RULES]

/** Nothing shorter holds a secret together with what gives it away. */
const SHORTEST = 8

/** How far from its anchor a secret, or the word that marks it, may be. */
const NEAR_BEFORE = 128
const NEAR_BEHIND = 600
const NEAR_STEP = 64
/** How far from an anchor that leads to nothing hidden characters are looked for: as far as most tokens are long. */
const BESIDE = 48

/** Secrets in any text, in the order they stand, never overlapping. */
export function findSecrets(text: string): Finding[] {
  return secretFinder().find(text)
}

/** How much was done for the texts so far. A test watches it: it must grow with the text and not with its content. */
export function rulesTried(): number {
  return secretFinder().tried
}

let shared: SecretFinder | undefined
const secretFinder = (): SecretFinder => {
  shared ??= new SecretFinder(RULES)
  return shared
}

class SecretFinder {
  tried = 0
  readonly #scan: AnchorScan
  readonly #ruleOf: readonly number[]
  /** Per rule: how far its findings reach, and up to where it said there is nothing. */
  readonly #reached: Int32Array
  readonly #missed: Int32Array
  #hasReached = false
  #found: Trusted[] = []
  #text = ''
  /** Where anchors are; of those that are close together, the first. */
  #near: number[] = []
  #nextNear = 0
  /** Whether the text may have colours or escapes. */
  #isOdd = false
  /** Whether characters that nobody sees are beside an anchor. */
  #isHiding = false
  /** The rules from here on find a value by its name: it may have such characters inside. */
  readonly #byName: number

  constructor(private readonly rules: readonly Rule[]) {
    this.#scan = new AnchorScan(rules.flatMap((rule) => rule.anchors))
    this.#ruleOf = rules.flatMap((rule, index) => rule.anchors.map(() => index))
    this.#reached = new Int32Array(rules.length)
    this.#missed = new Int32Array(rules.length)
    this.#byName = rules.length - ASSIGNMENT_RULES.length
  }

  find(text: string): Finding[] {
    if (text.length < SHORTEST) return NONE
    const found = this.#findIn(text)
    if (found.length === 0) return found
    // Only now does it matter whether the text has marks: most texts have no secrets.
    const spans = spansBetweenMarks(text)
    if (spans[0]?.start === 0 && spans[0].end === text.length) return found
    return spans.flatMap(({ start, end }) =>
      this.#findIn(text.slice(start, end)).map((one) => ({ ...one, start: one.start + start, end: one.end + start })),
    )
  }

  /** In the text as it is, as a person sees it, and as it is when its escapes are undone. */
  #findIn(text: string): Finding[] {
    const triedBefore = this.tried
    const coloured = text.length > SHORT && text.indexOf('\x1b') !== -1 ? withoutSequences(text) : undefined
    // What has colours is looked at without them, which finds as much; but not what a sequence tells the terminal.
    let found = coloured === undefined || text.includes('\x1b]') ? this.#search(text) : NOTHING
    if (coloured === undefined && !this.#isOdd && this.tried === triedBefore) return NONE
    let seen = coloured
    if (coloured) found = joined(found, this.#searchSeen(coloured))
    const isTried = this.tried > triedBefore
    // Colours, letters struck over and wide letters break the words by which secrets are found; the rest is noticed beside them.
    if (
      this.#isHiding ||
      text.indexOf('\b') !== -1 ||
      isWide(text) ||
      (text.length <= SHORT && text.includes('\x1b'))
    ) {
      const shown = withoutHidden(seen?.text ?? text, seen)
      if (shown) found = joined(found, this.#searchSeen(shown))
      seen = shown ?? seen
    }
    if (hasHiddenEscapes(seen?.text ?? text, isTried)) {
      const plain = withHiddenUnescaped(seen?.text ?? text, seen)
      const shown = plain && (withoutHidden(plain.text, plain) ?? plain)
      if (shown) found = joined(found, this.#searchSeen(shown))
      seen = shown ?? seen
    }
    // An escape hides no anchor, only what is near it.
    if (this.#near.length > 0 && hasEscapes(seen?.text ?? text))
      found = joined(found, this.#searchPlain(seen?.text ?? text, seen))
    return found.length === 0 ? NONE : united(found)
  }

  /** Without escapes, where anchors were found. */
  #searchPlain(text: string, seen: MappedText | undefined): Trusted[] {
    const found: Trusted[] = []
    for (const { start, end } of partsAround(this.#near)) {
      const more = this.#plainFindings(text.slice(start, end), start, seen)
      if (end < text.length && more.some((one) => one.isAtEnd)) return this.#plainFindings(text, 0, seen)
      for (const one of more) found.push(one)
    }
    return found
  }

  #plainFindings(part: string, offset: number, seen: MappedText | undefined): (Trusted & { isAtEnd: boolean })[] {
    const plain = withoutEscapes(part)
    if (plain === undefined) return []
    return this.#search(plain.text).flatMap((one) => {
      if (one.end <= one.start) return []
      const { start, end } = plain.originalSpan(one.start, one.end)
      const span = { start: start + offset, end: end + offset }
      const isAtEnd = one.end === plain.text.length
      return [{ ...one, ...(seen ? seen.originalSpan(span.start, span.end) : span), isAtEnd }]
    })
  }

  #searchSeen(seen: MappedText): Trusted[] {
    return this.#search(seen.text).flatMap((one) =>
      one.end > one.start ? [{ ...one, ...seen.originalSpan(one.start, one.end) }] : [],
    )
  }

  #search(text: string): Trusted[] {
    this.#text = text
    if (this.#near.length > 0) this.#near = []
    this.#nextNear = 0
    this.#isHiding = false
    this.#isOdd = this.#scan.scan(text, this.#try)
    this.#text = ''
    if (!this.#hasReached) return NOTHING
    this.#reached.fill(0)
    this.#missed.fill(0)
    this.#hasReached = false
    const found = this.#found
    this.#found = []
    return found
  }

  readonly #try = (anchor: number, at: number): void => {
    const index = this.#ruleOf[anchor] as number
    const missed = this.#missed[index] as number
    if (at < missed) return
    this.tried += 1
    const rule = this.rules[index] as Rule
    const span = rule.match(this.#text, at, this.#reached[index] as number)
    if (span === NOT_HERE) return
    if (at >= this.#nextNear) {
      this.#near.push(at)
      this.#nextNear = at + NEAR_STEP
    }
    if (span === undefined || typeof span === 'number') {
      if (span === HIDDEN_STOP) this.#isHiding = true
      else if (index < this.#byName && !this.#isHiding && !rule.noticesHidden)
        this.#isHiding = hasHidden(this.#text, at - BESIDE / 2, at + BESIDE)
      if (span === undefined || span < 0) return
      this.#hasReached = true
      this.#missed[index] = span
      return
    }
    this.#hasReached = true
    if (isHidden(this.#text.charCodeAt(span.end))) this.#isHiding = true
    this.#reached[index] = Math.max(span.end, this.#reached[index] as number)
    this.#found.push({ ...span, rule: rule.name, trust: index })
  }
}

const NONE: Finding[] = []

/** With the place of its rule in the order of trust. */
type Trusted = Finding & { trust: number }
const NOTHING: Trusted[] = []
const joined = (some: Trusted[], more: Trusted[]): Trusted[] => (more.length === 0 ? some : some.concat(more))

/** The parts of a text around these places, apart from each other. */
function partsAround(places: readonly number[]): Span[] {
  const parts: Span[] = []
  for (const at of places) {
    const last = parts.at(-1)
    if (last !== undefined && at - NEAR_BEFORE <= last.end) last.end = at + NEAR_BEHIND
    else parts.push({ start: Math.max(0, at - NEAR_BEFORE), end: at + NEAR_BEHIND })
  }
  return parts
}

/** Overlapping findings as one, named by the most trusted of them. */
function united(found: Trusted[]): Finding[] {
  const sorted = found.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const groups: Trusted[] = []
  for (const next of sorted) {
    const last = groups.at(-1)
    if (last === undefined || next.start >= last.end) groups.push({ ...next })
    else {
      if (next.trust < last.trust) Object.assign(last, { rule: next.rule, trust: next.trust })
      last.end = Math.max(last.end, next.end)
    }
  }
  return groups.map(({ start, end, rule }) => ({ start, end, rule }))
}
