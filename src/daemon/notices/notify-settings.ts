import { type Settings, settingsTable } from '../../home/index.js'
import { type GroupPath, isWithin, parseGroupPath, SkeinError } from '../../model/index.js'
import { NOTICE_KINDS, type Notice, type NoticeKind } from './attention.js'

export const WAYS = ['desktop', 'tmux', 'bell', 'command'] as const
export type Way = (typeof WAYS)[number]

/** Whom to tell what, how, and when not: `[notify]` in the config file. */
export interface NotifySettings {
  readonly on: readonly NoticeKind[]
  readonly by: readonly Way[]
  readonly command?: readonly [string, ...string[]]
  /** Spans of the day in minutes; one that ends before it begins goes over midnight. */
  /** So many notices a minute at most, of all agents together. */
  readonly perMinute: number
  readonly quiet: readonly { readonly from: number; readonly to: number }[]
  readonly rules: readonly Rule[]
}

/** The first one that fits decides. */
interface Rule {
  readonly group?: GroupPath
  readonly on?: readonly NoticeKind[]
  readonly by: readonly Way[]
}

/** How this notice is to reach its user; nothing when it is not to. */
export function waysFor(
  { kind, agent }: Pick<Notice, 'kind' | 'agent'>,
  settings: NotifySettings,
  at: Date,
): readonly Way[] {
  if (isQuiet(settings, at)) return []
  const rule = settings.rules.find(
    ({ group, on }) => (group === undefined || isWithin(agent, group)) && (on === undefined || on.includes(kind)),
  )
  if (rule) return rule.by
  return settings.on.includes(kind) ? settings.by : []
}

/** By the clock on the wall. */
export function isQuiet({ quiet }: Pick<NotifySettings, 'quiet'>, at: Date): boolean {
  const now = at.getHours() * 60 + at.getMinutes()
  return quiet.some(({ from, to }) => (from <= to ? now >= from && now < to : now >= from || now < to))
}

export function parseNotify(settings: Settings, file: string): NotifySettings {
  const table = settingsTable(settings, 'notify', file)
  const where = (key: string): string => `notify.${key} in ${file}`
  refuseUnknown(table, ['on', 'by', 'command', 'per_minute', 'quiet_hours', 'rules'], `[notify] in ${file}`)
  const command = table.command === undefined ? undefined : argvOf(table.command, where('command'))
  const by = listOf(table.by, WAYS, where('by')) ?? (command ? ['desktop', 'tmux', 'command'] : ['desktop', 'tmux'])
  const rules = rulesOf(table.rules, file)
  if (!command && [by, ...rules.map((rule) => rule.by)].some((ways) => ways.includes('command'))) {
    throw bad(`${where('by')} has "command", and there is no notify.command`, 'Write it like command = ["my-notifier"]')
  }
  return {
    on: listOf(table.on, NOTICE_KINDS, where('on')) ?? NOTICE_KINDS,
    by,
    ...(command ? { command } : {}),
    perMinute: rateOf(table.per_minute, where('per_minute')),
    quiet: quietOf(table.quiet_hours, where('quiet_hours')),
    rules,
  }
}

function rulesOf(value: unknown, file: string): Rule[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw bad(`notify.rules in ${file} is not a list`, 'Write each as [[notify.rules]]')
  return value.map((entry, at) => {
    const name = `notify.rules[${at}]`
    const rule = settingsTable({ [name]: entry }, name, file)
    refuseUnknown(rule, ['group', 'on', 'by'], `${name} in ${file}`)
    const on = listOf(rule.on, NOTICE_KINDS, `${name}.on in ${file}`)
    const by = listOf(rule.by, WAYS, `${name}.by in ${file}`)
    if (!by) throw bad(`${name} in ${file} has no "by"`, 'Write by = ["tmux"], or by = [] for silence')
    return {
      by,
      ...(rule.group === undefined ? {} : { group: groupOf(rule.group, `${name}.group in ${file}`) }),
      ...(on ? { on } : {}),
    }
  })
}

function groupOf(value: unknown, where: string): GroupPath {
  if (typeof value === 'string') return parseGroupPath(value)
  throw bad(`${where} is not a group`, 'Write it like group = "web/api"')
}

function listOf<Word extends string>(
  value: unknown,
  words: readonly Word[],
  where: string,
): readonly Word[] | undefined {
  if (value === undefined) return undefined
  const found = Array.isArray(value) ? value.map((one) => words.find((word) => word === one)) : [undefined]
  const known = found.filter((word) => word !== undefined)
  if (known.length === found.length) return known
  throw bad(`${where} is ${JSON.stringify(value)}`, `Write a list of ${words.map((word) => `"${word}"`).join(', ')}`)
}

function argvOf(value: unknown, where: string): readonly [string, ...string[]] {
  const [program, ...args] = Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : []
  if (program) return [program, ...args]
  throw bad(
    `${where} is not a list of words`,
    'Write the program and its arguments, like ["ntfy", "publish", "agents"]',
  )
}

const PER_MINUTE = 10

function rateOf(value: unknown, where: string): number {
  if (value === undefined) return PER_MINUTE
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000) return value
  throw bad(`${where} is ${JSON.stringify(value)}`, 'Write a whole number from 1 to 1000')
}

function quietOf(value: unknown, where: string): NotifySettings['quiet'] {
  const spans: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  return spans.map((span) => {
    const match = typeof span === 'string' ? /^(\d\d?):(\d\d)\s*-\s*(\d\d?):(\d\d)$/.exec(span) : null
    const [hour = 99, minute = 99, endHour = 99, endMinute = 99] = (match ?? []).slice(1).map(Number)
    const isTime = hour < 24 && minute < 60 && (endHour < 24 || (endHour === 24 && endMinute === 0)) && endMinute < 60
    if (!isTime) throw bad(`${where} is ${JSON.stringify(span)}`, 'Write it like quiet_hours = "22:00-07:30"')
    return { from: hour * 60 + minute, to: endHour * 60 + endMinute }
  })
}

function refuseUnknown(table: Settings, keys: readonly string[], where: string): void {
  const stray = Object.keys(table).find((key) => !keys.includes(key))
  if (stray !== undefined) throw bad(`${where} has the unknown key "${stray}"`, `Known: ${keys.join(', ')}`)
}

const bad = (message: string, next: string): SkeinError => new SkeinError('bad-config', message, next)
