import { SkeinError, TROUBLES, type Trouble, WAITS, type Wait } from '../../model/index.js'
import { isObject, type JsonObject } from '../json-value.js'
import type { Dialog, DialogOption, ScreenReading } from '../runner.js'
import { safeRegex } from './safe-regex.js'

/**
 * How to read a tool's screen, as data: a file per tool, shipped with Skein or put in the user's `patterns/` directory, which
 * wins. [docs/PATTERNS.md] describes every key. The first rule that matches decides; where none does, the screen is unknown.
 */
export interface ScreenRules {
  readonly tool: string
  readonly version: number
  /** Versions of the tool that the rules were recorded from. */
  readonly recorded_from: readonly string[]
  /** Where the rules come from: `built in`, or the user's file. */
  readonly source: string
  readonly input?: InputShape
  /** Characters that draw the sides of boxes, taken off before anything is matched. */
  readonly frame?: string
  readonly meanings: readonly Meaning[]
  readonly rules: readonly ScreenRule[]
  readonly titles: readonly TitleRule[]
}

export interface InputShape {
  /** The first line of the input, with the typed text as group `text`. */
  readonly prompt: RegExp
  /** The line above and below the input, where the tool draws one. */
  readonly edge?: RegExp
  /** What stands in an empty input line. */
  readonly placeholders: readonly RegExp[]
}

export interface Meaning {
  readonly label: RegExp
  readonly meaning: DialogOption['meaning']
}

/** `hint`: last paragraph. `flush`: lines above the input that start at the edge. `above`, `bottom`: the last lines that are not empty. */
const REGIONS = ['hint', 'input', 'footer', 'above', 'flush', 'bottom', 'screen'] as const
export type Region = (typeof REGIONS)[number]

interface Verdict {
  readonly id: string
  readonly status: ScreenReading['status']
  /** `{name}` stands for the group of that name in `match`. */
  readonly reason?: string
  readonly waiting_for?: Wait
  readonly trouble?: Trouble
}

export interface ScreenRule extends Verdict {
  readonly region: Region
  readonly lines: number
  /** Each must match some line of the region. */
  readonly match: readonly RegExp[]
  /** None may match a line of the region. */
  readonly not: readonly RegExp[]
  /** Holds only where there is (no) input line. */
  readonly has_input?: boolean
  readonly dialog?: DialogShape
}

export interface TitleRule extends Verdict {
  readonly match: RegExp
}

export interface DialogShape {
  readonly kind: Dialog['kind']
  /** Stands before the chosen row. */
  readonly marker: string
  readonly question?: RegExp
  /** The labels of a dialog whose options stand beside each other. */
  readonly row?: readonly string[]
}

const STATUSES = ['starting', 'running', 'waiting', 'idle', 'error', 'unknown'] as const
const KINDS = ['permission', 'question', 'plan', 'startup'] as const
const MEANINGS = ['allow', 'allow-always', 'deny', 'auto', 'other'] as const

/** Reads rules from a parsed file. What is wrong is said with its place: `rules[3].match`. */
export function parseScreenRules(value: unknown, source: string): ScreenRules {
  const at = new Place(source, '', value)
  const keys = ['tool', 'version', 'recorded_from', 'input', 'frame', 'meanings', 'rules', 'titles', '$schema']
  const file = at.object(keys)
  const frame = file.optional('frame')?.text()
  const input = file.optional('input')
  return {
    tool: file.get('tool').text(),
    version: file.get('version').count(),
    recorded_from:
      file
        .optional('recorded_from')
        ?.list()
        .map((version) => version.text()) ?? [],
    source,
    ...(frame === undefined ? {} : { frame }),
    ...(input ? { input: inputShape(input) } : {}),
    meanings: file.optional('meanings')?.list().map(meaningRule) ?? [],
    rules: file.get('rules').list().map(screenRule),
    titles: file.optional('titles')?.list().map(titleRule) ?? [],
  }
}

function inputShape(place: Place): InputShape {
  const shape = place.object(['prompt', 'edge', 'placeholders'])
  const edge = shape.optional('edge')?.regex()
  return {
    prompt: shape.get('prompt').regex(),
    ...(edge ? { edge } : {}),
    placeholders:
      shape
        .optional('placeholders')
        ?.list()
        .map((one) => one.regex()) ?? [],
  }
}

function meaningRule(place: Place): Meaning {
  const rule = place.object(['label', 'meaning'])
  return { label: rule.get('label').regex('iu'), meaning: rule.get('meaning').oneOf(MEANINGS) }
}

const VERDICT_KEYS = ['id', 'status', 'reason', 'waiting_for', 'trouble']

function verdict(rule: Place): Verdict {
  const reason = rule.optional('reason')?.text()
  const waitingFor = rule.optional('waiting_for')?.oneOf(WAITS)
  const trouble = rule.optional('trouble')?.oneOf(TROUBLES)
  return {
    id: rule.get('id').text(),
    status: rule.get('status').oneOf(STATUSES),
    ...(reason === undefined ? {} : { reason }),
    ...(waitingFor ? { waiting_for: waitingFor } : {}),
    ...(trouble ? { trouble } : {}),
  }
}

function screenRule(place: Place): ScreenRule {
  const rule = place.object([...VERDICT_KEYS, 'region', 'lines', 'match', 'not', 'has_input', 'dialog'])
  const hasInput = rule.optional('has_input')?.truth()
  const dialog = rule.optional('dialog')
  return {
    ...verdict(rule),
    region: rule.get('region').oneOf(REGIONS),
    lines: rule.optional('lines')?.count() ?? 1,
    match: rule
      .get('match')
      .oneOrMore()
      .map((one) => one.regex()),
    not:
      rule
        .optional('not')
        ?.oneOrMore()
        .map((one) => one.regex()) ?? [],
    ...(hasInput === undefined ? {} : { has_input: hasInput }),
    ...(dialog ? { dialog: dialogShape(dialog) } : {}),
  }
}

function titleRule(place: Place): TitleRule {
  const rule = place.object([...VERDICT_KEYS, 'match'])
  return { ...verdict(rule), match: rule.get('match').regex() }
}

function dialogShape(place: Place): DialogShape {
  const shape = place.object(['kind', 'marker', 'question', 'row'])
  const question = shape.optional('question')?.regex()
  const row = shape
    .optional('row')
    ?.list()
    .map((label) => label.text())
  return {
    kind: shape.get('kind').oneOf(KINDS),
    marker: shape.optional('marker')?.text() ?? '❯',
    ...(question ? { question } : {}),
    ...(row ? { row } : {}),
  }
}

/** A value with the way to it, so that every complaint names the key and the file. */
class Place {
  constructor(
    readonly file: string,
    readonly path: string,
    readonly value: unknown,
  ) {}

  /** An object with these keys and no others: a misspelt key must not be a rule that never fires. */
  object(keys: readonly string[]): Place {
    if (!isObject(this.value)) throw this.#bad('is not a table', `Known keys: ${keys.join(', ')}`)
    const stranger = Object.keys(this.value).find((key) => !keys.includes(key))
    if (stranger !== undefined)
      throw new Place(this.file, this.#below(stranger), undefined).#bad(
        'is not a known key',
        `Known: ${keys.join(', ')}`,
      )
    return this
  }

  get(key: string): Place {
    const found = this.optional(key)
    if (!found) throw new Place(this.file, this.#below(key), undefined).#bad('is missing', 'Add it')
    return found
  }

  optional(key: string): Place | undefined {
    const value = (this.value as JsonObject)[key]
    return value === undefined ? undefined : new Place(this.file, this.#below(key), value)
  }

  list(): Place[] {
    if (!Array.isArray(this.value)) throw this.#bad('is not a list', 'Write it in square brackets')
    return this.value.map((value, at) => new Place(this.file, `${this.path}[${at}]`, value))
  }

  oneOrMore(): Place[] {
    return Array.isArray(this.value) ? this.list() : [this]
  }

  text(): string {
    if (typeof this.value === 'string' && this.value !== '') return this.value
    throw this.#bad('is not a text', 'Write it in quotes')
  }

  count(): number {
    if (typeof this.value === 'number' && Number.isSafeInteger(this.value) && this.value > 0) return this.value
    throw this.#bad('is not a whole number above 0', 'Write one')
  }

  truth(): boolean {
    if (typeof this.value === 'boolean') return this.value
    throw this.#bad('is neither true nor false', 'Write one of them')
  }

  oneOf<Word extends string>(words: readonly Word[]): Word {
    const found = words.find((word) => word === this.value)
    if (found !== undefined) return found
    throw this.#bad(`is ${JSON.stringify(this.value)}`, `Use one of: ${words.join(', ')}`)
  }

  regex(flags: 'u' | 'iu' = 'u'): RegExp {
    try {
      return safeRegex(this.text(), flags)
    } catch (error) {
      if (error instanceof SkeinError) throw error
      const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error)
      throw this.#bad(`cannot be used as a pattern: ${why}`, 'Correct the regular expression')
    }
  }

  #below(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  #bad(problem: string, next: string): SkeinError {
    return new SkeinError('bad-config', `${this.path || 'The content'} in ${this.file} ${problem}`, next)
  }
}
