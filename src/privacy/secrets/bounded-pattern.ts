import { type Context, createContext, Script } from 'node:vm'
import { patternRisk, SkeinError } from '../../model/index.js'
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
    const { isNested, repeatsAlternatives, repetitions } = patternRisk(source)
    if (isNested) throw badPattern(source, 'repeats a group that itself repeats something, which can run for ever')
    this.#watchedFrom = (repeatsAlternatives ? undefined : WATCHED_FROM[repetitions]) ?? WATCHED_FROM_RISKY
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

const badPattern = (source: string, what: string): SkeinError =>
  new SkeinError(
    'bad-input',
    `The pattern ${JSON.stringify(source.slice(0, 60))} ${what}`,
    'Use a simpler one; for a single value use --secret-stdin',
  )
