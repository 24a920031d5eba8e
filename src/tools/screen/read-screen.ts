import type { Evidence } from '../../model/index.js'
import { resetPhrase } from '../run/reset-time.js'
import type { Dialog, Screen, ScreenReading } from '../run/tool-runner.js'
import { readDialog } from './dialog.js'
import { type Layout, layoutOf, linesOf } from './layout.js'
import { readPrompt } from './prompt.js'
import type { InputShape, ScreenRule, ScreenRules } from './rules.js'

const UNKNOWN: ScreenReading = { status: 'unknown', reason: 'no rule matches this screen' }

/** What a screen shows, by the first rule that matches. A rule with a dialog matches only where its options can be read. */
export function readScreenBy(rules: ScreenRules, screen: Screen): ScreenReading {
  const layout = layoutOf(screen, rules.input, rules.frame)
  const found = firstOf(rules, layout)
  // If it is not certain that this is the input line, its text may be anything.
  const isPlaceToType = found !== undefined && !found.dialog && found.status !== 'unknown'
  const draft = rules.input && isPlaceToType && draftIn(layout, rules.input)
  return { ...(found ?? UNKNOWN), ...(draft ? { draft } : {}) }
}

/** The text in the input line, empty when there is none; undefined where no input line is seen. */
export function readInputBy(rules: ScreenRules, screen: Screen): string | undefined {
  const layout = layoutOf(screen, rules.input, rules.frame)
  if (!rules.input || !layout.input || !firstOf(rules, layout)) return undefined
  return draftIn(layout, rules.input) ?? ''
}

/** What a title says; undefined when no rule knows it, which says nothing at all. */
export function readTitleBy(rules: ScreenRules, title: string): Omit<Evidence, 'at'> | undefined {
  const text = title.slice(0, 200).trim()
  for (const { id, match, status, reason, waiting_for, trouble } of rules.titles) {
    const hit = match.exec(text)
    if (!hit) continue
    return {
      source: 'title',
      status,
      rule: ruleName(rules, id),
      ...(reason ? { reason: filled(reason, hit) } : {}),
      ...(waiting_for ? { waiting_for } : {}),
      ...(trouble ? { trouble } : {}),
    }
  }
  return undefined
}

const ruleName = (rules: ScreenRules, id: string): string => `${rules.tool}/${id}@${rules.version}`

function firstOf(rules: ScreenRules, layout: Layout): ScreenReading | undefined {
  for (const rule of rules.rules) {
    const found = hitOf(rule, layout)
    if (!found) continue
    const { hit } = found
    const dialog = dialogOf(rule, layout, hit, rules.meanings)
    if ((rule.dialog || rule.keys) && !dialog) continue
    const reason = rule.reason && filled(rule.reason, hit)
    return {
      status: rule.status,
      rule: ruleName(rules, rule.id),
      ...(reason ? { reason: rule.trouble === 'usage-limit' ? withReset(reason, found.after) : reason } : {}),
      ...(rule.waiting_for ? { waiting_for: rule.waiting_for } : {}),
      ...(rule.trouble ? { trouble: rule.trouble } : {}),
      ...(dialog ? { dialog } : {}),
      ...(rule.is_new ? { isNew: true } : {}),
    }
  }
  return undefined
}

function dialogOf(
  { dialog, keys }: ScreenRule,
  layout: Layout,
  hit: RegExpExecArray,
  meanings: ScreenRules['meanings'],
): Dialog | undefined {
  if (keys) return readPrompt(layout, hit, keys)
  return dialog && readDialog(layout, dialog, meanings)
}

interface Hit {
  readonly hit: RegExpExecArray
  /** The line of the match and those after it. */
  readonly after: readonly string[]
}

/** The match of the rule's first pattern, which fills its reason. */
function hitOf(rule: ScreenRule, layout: Layout): Hit | undefined {
  if (rule.has_input !== undefined && rule.has_input !== (layout.input !== undefined)) return undefined
  const lines = linesOf(layout, rule.region, rule.lines)
  if (rule.not.some((pattern) => lines.some((line) => pattern.test(line)))) return undefined
  let first: Hit | undefined
  for (const pattern of rule.match) {
    const hit = lastHit(lines, pattern)
    if (!hit) return undefined
    first ??= hit
  }
  return first
}

function lastHit(lines: readonly string[], pattern: RegExp): Hit | undefined {
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const hit = pattern.exec(lines[at] ?? '')
    if (hit) return { hit, after: lines.slice(at) }
  }
  return undefined
}

/** When a limit ends is often said at the end of a message that the screen has wrapped. */
function withReset(reason: string, after: readonly string[]): string {
  const end = after.findIndex((line) => line.replace(/[│┃]/g, '').trim() === '')
  const message = end === -1 ? after : after.slice(0, end)
  const resets = resetPhrase(message.map((line) => line.replace(/[│┃]/g, '').trim()).join(' '))
  return resets === undefined || reason.includes(resets) ? reason : `${reason} (${resets})`
}

const filled = (reason: string, hit: RegExpExecArray): string =>
  reason.replace(/\{(\w+)\}/g, (_, name: string) => hit.groups?.[name] ?? '').trim()

function draftIn(layout: Layout, shape: InputShape): string | undefined {
  const [first, ...rest] = layout.input ?? []
  if (first === undefined) return undefined
  const textOf = (line: string): string => shape.prompt.exec(line)?.groups?.text?.trim() ?? ''
  const text = textOf(first)
  if (text === '' || shape.placeholders.some((pattern) => pattern.test(text))) return undefined
  // What stands beside a box is no part of it.
  return [text, ...rest.map((line) => (shape.side ? textOf(line) : line.trim()))].join('\n')
}
