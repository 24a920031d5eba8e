import { type Context, createContext, Script } from 'node:vm'
import { SkeinError } from '../../model/index.js'
import type { Span } from '../mark.js'

/**
 * Patterns may take for ever on some texts, and any text may come. Shorter ones are not worth a watchdog: the time grows with
 * the length to the power of the repetitions, and one more for where a match may begin.
 */
const WATCHED_FROM = [1_000, 1_000, 200] as const
/** With more repetitions, or alternatives inside of one, even a short text can take for ever. */
const WATCHED_FROM_RISKY = 20
const LONGEST_MS = 2_000
const LONGEST_PATTERN = 1_000

/** A regular expression that is stopped when it takes too long. */
export class BoundedPattern {
  readonly #expression: RegExp
  readonly #watchedFrom: number

  /** Throws what a user can understand when it is no pattern, fits everything, or is known to take for ever. */
  constructor(readonly source: string) {
    if (source.length > LONGEST_PATTERN) throw badPattern(source, `is longer than ${LONGEST_PATTERN} characters`)
    this.#expression = compiled(source)
    if (this.#expression.test('')) throw badPattern(source, 'also matches an empty text')
    const { nested, alternatives, count } = repetitionsIn(source)
    if (nested) throw badPattern(source, 'repeats a group that itself repeats something, which can run for ever')
    this.#watchedFrom = (alternatives ? undefined : WATCHED_FROM[count]) ?? WATCHED_FROM_RISKY
  }

  /** Throws a `SkeinError` when it takes too long. */
  spansIn(text: string): Span[] {
    if (text.length < this.#watchedFrom) return this.#spans(text)
    try {
      return watched(() => this.#spans(text))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw badPattern(this.source, `took more than ${LONGEST_MS / 1_000} s on a text of ${text.length} characters`)
    }
  }

  #spans(text: string): Span[] {
    const spans: Span[] = []
    for (const match of text.matchAll(this.#expression)) {
      if (match[0] !== '') spans.push({ start: match.index, end: match.index + match[0].length })
    }
    return spans
  }
}

let watchdog: { context: Context; script: Script } | undefined

/** Made once: a context of its own for every text costs ten times as much. */
function watched(find: () => Span[]): Span[] {
  watchdog ??= { context: createContext({ find }), script: new Script('find()') }
  watchdog.context.find = find
  return watchdog.script.runInContext(watchdog.context, { timeout: LONGEST_MS }) as Span[]
}

function compiled(source: string): RegExp {
  try {
    return new RegExp(source, 'gu')
  } catch (strict) {
    try {
      return new RegExp(source, 'g') // escapes that mean nothing are allowed here
    } catch {
      const why = strict instanceof Error ? strict.message.replace(/^.*: /, '').toLowerCase() : 'not a pattern'
      throw badPattern(source, `cannot be parsed (${why})`)
    }
  }
}

/** Whether a repeated group holds a repetition, or alternatives, and how many repetitions there are. Looks at the text alone, so it may be too careful. */
function repetitionsIn(source: string): { nested: boolean; alternatives: boolean; count: number } {
  const open: { repeats: boolean; chooses: boolean }[] = [{ repeats: false, chooses: false }]
  const found = { nested: false, alternatives: false, count: 0 }
  const tokens = source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:|<\w+>)|[()|]|[*+]|\{(\d*)(,?)(\d*)\}/gsu)
  let closed: { repeats: boolean; chooses: boolean; end: number } | undefined
  for (const { 0: token, 1: least, 2: comma, 3: most, index } of tokens) {
    const group = open.at(-1)
    const times = comma === '' ? least : most
    const isUnbounded = token === '*' || token === '+' || (token.startsWith('{') && Number(times || 999) > 10)
    if (isUnbounded) {
      found.count += 1
      if (closed?.end === index) {
        found.nested ||= closed.repeats
        found.alternatives ||= closed.chooses
      }
      if (group) group.repeats = true
    } else if (token === '|') {
      if (group) group.chooses = true
    } else if (token.startsWith('(')) open.push({ repeats: false, chooses: false })
    closed = undefined
    if (token !== ')' || open.length < 2) continue
    const inner = open.pop() ?? { repeats: false, chooses: false }
    closed = { ...inner, end: index + 1 }
    const around = open.at(-1)
    if (!around) continue
    around.repeats ||= inner.repeats
    around.chooses ||= inner.chooses
  }
  return found
}

const badPattern = (source: string, what: string): SkeinError =>
  new SkeinError(
    'bad-input',
    `The pattern ${JSON.stringify(source.slice(0, 60))} ${what}`,
    'Use a simpler one; for a single value use --secret-stdin',
  )
