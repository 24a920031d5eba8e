import { DAY_MS, type Instant, instantOf } from '../../model/index.js'

/** What was said a little late, or rounded down to the minute, is not about tomorrow. */
const LATE_MS = 5 * 60_000
/** Limits are of hours, days, a week or a month. */
const LONGEST_MS = 40 * DAY_MS
/** So much of a message is looked at. */
const MOST_CHARACTERS = 4_000

const MONTHS = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const CLOCK = String.raw`\d{1,2}(?::\d\d){0,2}(?:[ \u202f]?[ap]m)?`
const DATE = String.raw`(?:${MONTHS})[a-z]* \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?`
const ZONE = String.raw`\(?(?:[a-z]+(?:[/_][a-z_]+)+|utc|gmt(?:[+-]\d{1,2}(?::\d\d)?)?)\)?`
const UNIT = '(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|ms|s)'
const SPAN = String.raw`~?\d+(?:\.\d+)? ?${UNIT}(?![a-z])(?:,? ?\d+(?:\.\d+)? ?${UNIT}(?![a-z]))*`
const STAMP = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)`
const SAYS = '(?:resets?|try again|trying again|retry)'

/** `resets 3pm (Europe/Paris)`, `try again at Dec 29th, 2026 10:15 PM`, `Access resets at 3:05 PM GMT+1`, `reset in 2 hours 5 minutes`. */
const PHRASE = new RegExp(
  String.raw`\b${SAYS}(?: (?:at|on|in|after))?:? (?:(?<stamp>${STAMP})|(?<span>${SPAN})|` +
    `(?<date>${DATE})(?:,? (?:at )?(?<dateClock>${CLOCK}))?(?: (?<dateZone>${ZONE}))?|` +
    String.raw`(?<clock>${CLOCK})(?: on (?<day>\d{1,2}) (?<month>${MONTHS}))?(?: (?<zone>${ZONE}))?)|` +
    String.raw`\blimit reached\|(?<epoch>\d{10})\b`,
  'i',
)

/** The words in which a program says when its user's limit ends; undefined when it does not. */
export const resetPhrase = (message: string): string | undefined =>
  PHRASE.exec(message.slice(0, MOST_CHARACTERS))?.[0]?.trim()

/**
 * When a limit ends, as a program that stopped at `since` says it; undefined when it does not. A time of day is the next one after that,
 * in the zone that is named, else in the zone of this process.
 */
export function resetTimeOf(message: string, since: number): Instant | undefined {
  const groups = PHRASE.exec(message.slice(0, MOST_CHARACTERS))?.groups
  const ms = groups && timeIn(groups, since)
  if (ms === undefined || Number.isNaN(ms) || ms < since - LATE_MS || ms > since + LONGEST_MS) return undefined
  return instantOf(ms)
}

function timeIn(groups: Record<string, string | undefined>, since: number): number | undefined {
  const { stamp, span, date, dateClock, dateZone, clock, day, month, zone, epoch } = groups
  if (epoch) return Number(epoch) * 1_000
  if (stamp) return Date.parse(stamp)
  if (span) return since + spanMs(span)
  if (date) return nextDate(date, dateClock, zoneOf(dateZone), since)
  if (!clock) return undefined
  if (day && month) return nextDate(`${month} ${day}`, clock, zoneOf(zone), since)
  return nextClock(clock, zoneOf(zone), since)
}

const UNIT_MS: readonly (readonly [RegExp, number])[] = [
  [/^d/, DAY_MS],
  [/^h/, 3_600_000],
  [/^ms$/, 1],
  [/^m/, 60_000],
  [/^s/, 1_000],
]

function spanMs(span: string): number {
  let sum = 0
  for (const [, amount, unit = ''] of span.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi))
    sum += Number(amount) * (UNIT_MS.find(([name]) => name.test(unit.toLowerCase()))?.[1] ?? 0)
  return sum
}

/** Hours and minutes; undefined for what is no time of day, such as a bare number. */
function clockOf(clock: string): readonly [number, number, number] | undefined {
  const [, hour, minute, second, half] = /^(\d{1,2})(?::(\d\d))?(?::(\d\d))?[ \u202f]?([ap]m)?$/i.exec(clock) ?? []
  if (hour === undefined || (minute === undefined && half === undefined)) return undefined
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0) : Number(hour)
  return hours > 23 ? undefined : [hours, Number(minute ?? 0), Number(second ?? 0)]
}

type Zone = (wall: number) => number

function nextClock(clock: string, zone: Zone, since: number): number | undefined {
  const time = clockOf(clock)
  if (!time) return undefined
  const [year, month, day] = wallDay(zone, since)
  const days = [-1, 0, 1, 2].map((more) => instantAt(zone, Date.UTC(year, month, day + more, ...time)))
  return days.find((ms) => ms >= since - LATE_MS)
}

function nextDate(date: string, clock: string | undefined, zone: Zone, since: number): number | undefined {
  const [, name = '', day, year] = /^([a-z]{3})[a-z]* (\d{1,2})[a-z]*(?:, (\d{4}))?/i.exec(date) ?? []
  const month = MONTHS.split('|').indexOf(name.toLowerCase())
  const time = clock === undefined ? ([0, 0, 0] as const) : clockOf(clock)
  if (!time || month < 0) return undefined
  const [thisYear] = wallDay(zone, since)
  const years = year ? [Number(year)] : [thisYear - 1, thisYear, thisYear + 1]
  const dates = years.map((one) => instantAt(zone, Date.UTC(one, month, Number(day), ...time)))
  return dates.find((ms) => ms >= since - LATE_MS)
}

/** How far the wall clock of a zone is ahead of UTC at an instant. A name that is none means the zone of this process. */
function zoneOf(name: string | undefined): Zone {
  const bare = name?.replace(/[()]/g, '')
  const [, sign, hours, minutes] = /^(?:utc|gmt)(?:([+-])(\d{1,2})(?::(\d\d))?)?$/i.exec(bare ?? '') ?? []
  if (bare && /^(utc|gmt)/i.test(bare)) {
    const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
    return () => (sign === '-' ? -ahead : ahead)
  }
  const local: Zone = (ms) => -new Date(ms).getTimezoneOffset() * 60_000
  if (!bare) return local
  try {
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: bare, timeZoneName: 'longOffset' })
    return (ms) => {
      const shown = parts.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      const [, before, h, m] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(shown) ?? []
      const ahead = (Number(h ?? 0) * 60 + Number(m ?? 0)) * 60_000
      return before === '-' ? -ahead : ahead
    }
  } catch {
    return local
  }
}

/** The instant at which the wall clock shows this; twice, because the offset is that of the instant. */
function instantAt(zone: Zone, wall: number): number {
  const first = wall - zone(wall)
  return wall - zone(first)
}

function wallDay(zone: Zone, ms: number): readonly [number, number, number] {
  const wall = new Date(ms + zone(ms))
  return [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()]
}
