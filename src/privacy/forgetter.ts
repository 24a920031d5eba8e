import { isStateType } from '../model/index.js'
import type { Span } from './mark.js'
import { PathGlob } from './path-glob.js'
import { isOurName, isStructural, markFor, PURGED, PURGED_MARKS } from './purged-mark.js'
import { DEEPEST } from './redact.js'
import { printedSpans, type SecretPrint } from './secret-print.js'
import { BoundedPattern } from './secrets/bounded-pattern.js'
import { decodedRuns, isVisibleAscii, type Sought, soughtForAll } from './secrets/decoded-runs.js'
import { originalSpan, type Spelling, type TextView, viewsOf } from './secrets/text-view.js'

/** What must not be kept any more, in the form in which that is remembered. */
export type PurgeRule =
  | { kind: 'secret'; print: SecretPrint }
  | { kind: 'pattern'; source: string }
  | { kind: 'path'; glob: string }

/** What is left of something after purging, and how many stretches of it went. */
export interface Forgotten<Value> {
  value: Value
  count: number
}

/** Purging can bring together what was apart; a text that is not settled after this many rounds is not kept. */
const ROUNDS = 8
/** A cut text may end in the beginning of a secret; a shorter beginning than this tells nothing. */
const TELLING_BEGINNING = 8
/**
 * Where the readers of logs cut a text. Hooks cut without saying so, but none that is shorter than this: there most of a secret must
 * stand at the end, or every text would lose its end that ends in a word with which the secret begins.
 */
const CUT = /… \(\d+ more\)/g
const SHORTEST_CUT = 80
const MOST_OF_IT = 0.8

type Find = (text: string) => Span[]

interface Finder {
  find: Find
  /** It is looked for in base64 and hex, too; `isWhole`: only where nothing else but text is there. */
  encoded?: Sought & { isWhole?: true }
}

/**
 * Decoding makes words of anything. A secret cannot be there by chance; a pattern is tried only on what is ASCII from its beginning
 * to its end, and not too short.
 */
const IN_PATTERNS = { shortest: 12, isAscii: true, isWhole: true } as const
const TEXT = /^[\t\n\r\x20-\x7e]*$/

/** Removes texts from texts, for good, in every covered spelling. */
export class Forgetter {
  readonly #finders: readonly Finder[]
  readonly #paths: readonly PathGlob[]
  readonly #encoded: readonly Required<Finder>[]
  readonly #sought: Sought
  /** In which spellings something was found so far. */
  readonly spellings = new Set<Spelling>()

  /**
   * `secrets` are those that are known right now; the rules know them by their prints only. What patterns and paths fit is added to
   * `found`, so that it can be looked for in places where a pattern has no meaning.
   */
  constructor(rules: readonly PurgeRule[], secrets: readonly string[] = [], found?: Set<string>) {
    const noted = (find: Find): Find => (found ? (text) => note(text, find(text), found) : find)
    this.#paths = rules.flatMap((rule) => (rule.kind === 'path' ? [new PathGlob(rule.glob)] : []))
    this.#finders = [
      ...secrets.map((secret) => ({ find: literalFind(secret), encoded: soughtFor(secret) })),
      ...rules.flatMap((rule): Finder[] => {
        if (rule.kind === 'secret') {
          const isKnown = secrets.some((secret) => printedSpans(secret, rule.print).length > 0)
          const { print } = rule
          const encoded = { shortest: print.length, isAscii: print.ascii === true }
          return isKnown ? [] : [{ find: (text) => printedSpans(text, print), encoded }]
        }
        if (rule.kind === 'path') return []
        const pattern = new BoundedPattern(rule.source)
        return [{ find: noted((text) => pattern.spansIn(text)), encoded: IN_PATTERNS }]
      }),
      ...this.#paths.map((glob): Finder => ({ find: (text) => glob.spansIn(text) })),
    ]
    this.#encoded = this.#finders.flatMap(({ find, encoded }) => (encoded ? [{ find, encoded }] : []))
    this.#sought = soughtForAll(this.#encoded.map(({ encoded }) => encoded))
  }

  get isEmpty(): boolean {
    return this.#finders.length === 0
  }

  /** Whether the text contains a path that must be forgotten, with the tool calls on it. */
  namesPath(text: string): boolean {
    return this.#paths.some((glob) => viewsOf(text).some((view) => glob.spansIn(view.text).length > 0))
  }

  /** The stretches that must go, as they stand in the text, merged. Nothing is found in what was purged before. */
  spansIn(text: string): Span[] {
    const spans: Span[] = []
    let from = 0
    for (const mark of text.matchAll(PURGED_MARKS)) {
      this.#findIn(text.slice(from, mark.index), from, spans)
      from = mark.index + mark[0].length
    }
    this.#findIn(from === 0 ? text : text.slice(from), from, spans)
    return merged(spans)
  }

  text(text: string, mark: string = PURGED): Forgotten<string> {
    let [value, count] = [text, 0]
    for (let round = 0; round < ROUNDS; round += 1) {
      const spans = this.spansIn(value)
      if (spans.length === 0) return { value, count }
      count += spans.length
      value = replaced(value, spans, mark)
    }
    return { value: mark, count: count + 1 }
  }

  /**
   * Every string in a JSON value, and every name. Ids and times of our records stay, because without them the rest means nothing; in
   * what somebody else put together (`isFree`: arguments of tools, what programs append to the journal) nothing does.
   */
  json(value: unknown, name = '', isFree = name === 'arguments', depth = 0): Forgotten<unknown> {
    if (typeof value === 'string')
      return !isFree && isStructural(name, value) ? { value, count: 0 } : this.text(value, markFor(name))
    if (typeof value !== 'object' || value === null) return { value, count: 0 }
    if (depth > DEEPEST) return { value: PURGED, count: 1 } // what cannot be searched is not kept
    let count = 0
    const keep = <Kept>(forgotten: Forgotten<Kept>): Kept => {
      count += forgotten.count
      return forgotten.value
    }
    const isFreeBelow = (key: string): boolean => isFree || key === 'arguments' || isFreePayload(value, key)
    const keptName = (key: string): string => (!isFree && isOurName(key) ? key : keep(this.text(key)))
    const after = Array.isArray(value)
      ? value.map((one) => keep(this.json(one, name, isFree, depth + 1)))
      : Object.fromEntries(
          Object.entries(value).map(([key, one]) => [
            keptName(key),
            keep(this.json(one, key, isFreeBelow(key), depth + 1)),
          ]),
        )
    return count === 0 ? { value, count } : { value: after, count }
  }

  #findIn(stretch: string, offset: number, spans: Span[]): void {
    if (stretch === '') return
    for (const view of viewsOf(stretch)) {
      const add = (spelling: Spelling, { start, end }: Span): void => {
        const span = originalSpan(view, start, end)
        if (span.end <= span.start) return
        this.spellings.add(spelling)
        spans.push({ start: span.start + offset, end: span.end + offset })
      }
      for (const { find } of this.#finders) for (const span of find(view.text)) add(view.spelling, span)
      this.#findEncoded(view, add)
    }
  }

  #findEncoded(view: TextView, add: (spelling: Spelling, span: Span) => void): void {
    if (this.#encoded.length === 0) return
    for (const run of decodedRuns(view.text, this.#sought)) {
      for (const { find, encoded } of this.#encoded) {
        if (encoded.isWhole && !TEXT.test(run.text)) continue
        for (const found of find(run.text)) for (const span of run.spansOf(found)) add(run.spelling, span)
      }
    }
  }
}

const soughtFor = (secret: string): Sought => ({ shortest: secret.length, isAscii: isVisibleAscii(secret) })

/** An event that changes no state may carry anything. */
function isFreePayload(record: object, key: string): boolean {
  if (key !== 'payload' || !('type' in record)) return false
  return typeof record.type === 'string' && !isStateType(record.type) && record.type !== 'handoff'
}

/** Shorter ones stand everywhere and prove nothing; more than this nobody looks for one by one. */
const WORTH_NOTING = 6
const MOST_NOTED = 5_000

function note(text: string, spans: Span[], found: Set<string>): Span[] {
  for (const { start, end } of spans)
    if (end - start >= WORTH_NOTING && found.size < MOST_NOTED) found.add(text.slice(start, end))
  return spans
}

/** A secret, and its beginning where the text was cut. */
function literalFind(secret: string): Find {
  return (text) => {
    const spans: Span[] = []
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      spans.push({ start: at, end: at + secret.length })
    if (secret.length <= TELLING_BEGINNING || !text.includes(secret.slice(0, TELLING_BEGINNING))) return spans
    for (const index of [...Array.from(text.matchAll(CUT), (cut) => cut.index), text.length]) {
      const length = beginningBefore(text, index, secret)
      const isCut = index < text.length || text.length >= SHORTEST_CUT || length >= secret.length * MOST_OF_IT
      if (length > 0 && isCut) spans.push({ start: index - length, end: index })
    }
    return spans
  }
}

function beginningBefore(text: string, end: number, secret: string): number {
  for (let length = Math.min(secret.length - 1, end); length >= TELLING_BEGINNING; length -= 1) {
    if (text.startsWith(secret.slice(0, length), end - length)) return length
  }
  return 0
}

function replaced(text: string, spans: readonly Span[], mark: string): string {
  const pieces: string[] = []
  let from = 0
  for (const { start, end } of spans) {
    pieces.push(text.slice(from, start), mark)
    from = end
  }
  return pieces.join('') + text.slice(from)
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = []
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else result.push({ ...span })
  }
  return result
}
