import { OPTION_MEANINGS, TROUBLES, type Trouble, WAITS, type Wait } from '../../model/index.js'
import { ConfigValue } from '../run/config-value.js'
import type { Dialog, DialogOption, ScreenReading } from '../run/tool-runner.js'

/**
 * How to read a tool's screen, as data: a file per tool, shipped with Skein or put in the user's `patterns/` directory, which
 * wins. docs/TOOLS.md describes every key. The first rule that matches decides; where none does, the screen is unknown.
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
  /**
   * For a tool that draws a line beside its input instead of one above it: matches every line of the box as it is drawn. The first
   * line of the box is empty, and so is the one before its last, which names the mode.
   */
  readonly side?: RegExp
  /** The placeholder text of an empty input line. */
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
  /** So looks a conversation in which nothing was said yet. */
  readonly is_new?: boolean
  readonly dialog?: DialogShape
  /** A line that waits for these keys: it has to be the last one, with nothing behind what matches. */
  readonly keys?: PromptKeys
}

export interface PromptKeys {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface TitleRule extends Verdict {
  readonly match: RegExp
}

export interface DialogShape {
  readonly kind: Dialog['kind']
  /** Stands before the chosen row. */
  readonly marker: string
  readonly question?: RegExp
  /** Its first line as it is drawn, which nothing in the dialog can look like. Without one, it begins with its question. */
  readonly top?: RegExp
  readonly thing?: ThingShape
  /** The labels of a dialog whose options stand beside each other. */
  readonly row?: readonly string[]
}

/**
 * Where the thing itself is, between the dialog's first line and its options. The agent decides what stands there: so these match
 * lines as they are drawn, frames included, that no text of its own can look like.
 */
export interface ThingShape {
  /** It begins below the first such line. */
  readonly below?: RegExp
  /** It begins in the first such line, behind what matches. */
  readonly after?: RegExp
  /** It ends above the last such line; without one, at the options. */
  readonly above?: RegExp
}

const STATUSES = ['starting', 'running', 'waiting', 'idle', 'error', 'unknown'] as const
const KINDS = ['permission', 'question', 'plan', 'startup'] as const

/** Reads rules from a parsed file. What is wrong is said with its place: `rules[3].match`. */
export function parseScreenRules(value: unknown, source: string): ScreenRules {
  const at = new ConfigValue(source, '', value)
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

function inputShape(place: ConfigValue): InputShape {
  const shape = place.object(['prompt', 'edge', 'side', 'placeholders'])
  const edge = shape.optional('edge')?.regex()
  const side = shape.optional('side')?.regex()
  return {
    prompt: shape.get('prompt').regex(),
    ...(edge ? { edge } : {}),
    ...(side ? { side } : {}),
    placeholders:
      shape
        .optional('placeholders')
        ?.list()
        .map((one) => one.regex()) ?? [],
  }
}

function meaningRule(place: ConfigValue): Meaning {
  const rule = place.object(['label', 'meaning'])
  return { label: rule.get('label').regex('iu'), meaning: rule.get('meaning').oneOf(OPTION_MEANINGS) }
}

const VERDICT_KEYS = ['id', 'status', 'reason', 'waiting_for', 'trouble']

function verdict(rule: ConfigValue): Verdict {
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

function screenRule(place: ConfigValue): ScreenRule {
  const rule = place.object([...VERDICT_KEYS, 'region', 'lines', 'match', 'not', 'has_input', 'is_new', 'dialog'])
  const hasInput = rule.optional('has_input')?.truth()
  const isNew = rule.optional('is_new')?.truth()
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
    ...(isNew === undefined ? {} : { is_new: isNew }),
    ...(dialog ? { dialog: dialogShape(dialog) } : {}),
  }
}

function titleRule(place: ConfigValue): TitleRule {
  const rule = place.object([...VERDICT_KEYS, 'match'])
  return { ...verdict(rule), match: rule.get('match').regex() }
}

function dialogShape(place: ConfigValue): DialogShape {
  const shape = place.object(['kind', 'marker', 'question', 'top', 'thing', 'row'])
  const question = shape.optional('question')?.regex()
  const top = shape.optional('top')?.regex()
  const thing = shape.optional('thing')
  const row = shape
    .optional('row')
    ?.list()
    .map((label) => label.text())
  return {
    kind: shape.get('kind').oneOf(KINDS),
    marker: shape.optional('marker')?.text() ?? '❯',
    ...(question ? { question } : {}),
    ...(top ? { top } : {}),
    ...(thing ? { thing: thingShape(thing) } : {}),
    ...(row ? { row } : {}),
  }
}

function thingShape(place: ConfigValue): ThingShape {
  const shape = place.object(['below', 'after', 'above'])
  const [below, after, above] = ['below', 'after', 'above'].map((name) => shape.optional(name)?.regex())
  return { ...(below ? { below } : {}), ...(after ? { after } : {}), ...(above ? { above } : {}) }
}
