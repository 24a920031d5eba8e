import { AnchorScan } from './anchor-scan.js'
import { ASSIGNMENT_RULES } from './assignment-rules.js'
import { COMMAND_RULES } from './command-rules.js'
import { type Span, spansBetweenMarks } from './mark.js'
import type { Rule } from './rule.js'
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
  #found: (Finding & { trust: number })[] = []
  #text = ''

  constructor(private readonly rules: readonly Rule[]) {
    this.#scan = new AnchorScan(rules.flatMap((rule) => rule.anchors))
    this.#ruleOf = rules.flatMap((rule, index) => rule.anchors.map(() => index))
    this.#reached = new Int32Array(rules.length)
    this.#missed = new Int32Array(rules.length)
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

  #findIn(text: string): Finding[] {
    this.#text = text
    this.#scan.scan(text, this.#try)
    this.#text = ''
    if (!this.#hasReached) return NONE
    this.#reached.fill(0)
    this.#missed.fill(0)
    this.#hasReached = false
    if (this.#found.length === 0) return NONE
    const found = united(this.#found)
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
    if (span === undefined) return
    this.#hasReached = true
    if (typeof span === 'number') {
      this.#missed[index] = span
      return
    }
    this.#reached[index] = Math.max(span.end, this.#reached[index] as number)
    this.#found.push({ ...span, rule: rule.name, trust: index })
  }
}

const NONE: Finding[] = []

/** Overlapping findings as one, named by the most trusted of them. */
function united(found: (Finding & { trust: number })[]): Finding[] {
  const sorted = found.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const groups: (Finding & { trust: number })[] = []
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
