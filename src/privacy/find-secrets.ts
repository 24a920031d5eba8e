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
  readonly #lengthOf: readonly number[]
  /** Per rule: what it found so far reaches up to here. A later anchor within that belongs to the same secret. */
  readonly #reached: Int32Array
  #found: (Finding & { trust: number })[] = []
  #text = ''

  constructor(private readonly rules: readonly Rule[]) {
    this.#scan = new AnchorScan(rules.flatMap((rule) => rule.anchors))
    this.#ruleOf = rules.flatMap((rule, index) => rule.anchors.map(() => index))
    this.#lengthOf = rules.flatMap((rule) => rule.anchors.map(({ text }) => text.length))
    this.#reached = new Int32Array(rules.length)
  }

  find(text: string): Finding[] {
    if (text.length < SHORTEST) return NONE
    const spans = spansBetweenMarks(text)
    const found = spans.flatMap((span) =>
      this.#findIn(
        spans.length === 1 && span.end === text.length ? text : text.slice(span.start, span.end),
        span.start,
      ),
    )
    return found
  }

  #findIn(text: string, offset: number): Finding[] {
    this.#text = text
    this.#found = []
    this.#reached.fill(0)
    this.#scan.scan(text, this.#try)
    const found = this.#found.length === 0 ? NONE : united(this.#found)
    this.#text = ''
    return offset === 0
      ? found
      : found.map(({ start, end, rule }) => ({ start: start + offset, end: end + offset, rule }))
  }

  readonly #try = (anchor: number, at: number): void => {
    const index = this.#ruleOf[anchor] as number
    if (at + (this.#lengthOf[anchor] as number) <= (this.#reached[index] as number)) return
    this.tried += 1
    const rule = this.rules[index] as Rule
    const span = rule.match(this.#text, at)
    if (span === undefined) return
    this.#reached[index] = typeof span === 'number' ? span : span.end
    if (typeof span === 'number') return
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
