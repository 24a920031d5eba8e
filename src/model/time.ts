import { SkeinError } from './error.js'

declare const instantBrand: unique symbol
/** A moment as RFC 3339 in UTC with milliseconds (`2026-01-17T01:00:00.000Z`): one width, so text order is time order. */
export type Instant = string & { readonly [instantBrand]: true }

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
export const DAY_MS = 86_400_000

/** From the year 1 to 9999: earlier and later ones have another width. */
const INSTANT = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
export const isInstant = (value: unknown): value is Instant => typeof value === 'string' && INSTANT.test(value)

const FIRST_MS = -62_135_596_800_000
const LAST_MS = 253_402_300_799_999

/** Undefined for what has no such form: years before 1 and after 9999. */
export function instantIfAny(ms: number): Instant | undefined {
  return ms >= FIRST_MS && ms <= LAST_MS ? instantOf(ms) : undefined
}

export function instantOf(ms: number): Instant {
  return new Date(ms).toISOString() as Instant
}

/** Digits at fixed places: ten times as fast as `Date.parse`, which every record of every log would pay. */
export function msOf(at: Instant): number {
  if (at.length !== 24 || at.charCodeAt(23) !== 90) return Date.parse(at)
  const year = digits(at, 0, 4)
  if (year < 100) return Date.parse(at) // Date.UTC would take it for a year of the last century
  const days = Date.UTC(year, digits(at, 5, 2) - 1, digits(at, 8, 2))
  return days + ((digits(at, 11, 2) * 60 + digits(at, 14, 2)) * 60 + digits(at, 17, 2)) * 1_000 + digits(at, 20, 3)
}

function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at += 1) value = value * 10 + text.charCodeAt(at) - 48
  return value
}

/** All instants have one width, so the order of their text is their order in time. */
export function laterOf(a: Instant, b: Instant): Instant {
  if (a < b) return b
  return a
}

/** Accepts any RFC 3339 time with a zone, or undefined when it is none. Years before 1 and past 9999 would break text order. */
export function parseInstant(text: string): Instant | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(text)) return undefined
  return instantIfAny(Date.parse(text))
}

/** `90m`, `24h`, `7d`, `1d12h`; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (MS_PER_UNIT[unit ?? ''] ?? Number.NaN)
  }
  return Number.isFinite(total) ? total : undefined
}

/** What people type after --since: a span back from now, a day (local midnight), or a full time. */
export function parseWhen(text: string, nowMs: number): Instant {
  if (text === 'today' || text === 'yesterday') {
    const day = new Date(nowMs)
    day.setHours(0, 0, 0, 0)
    if (text === 'yesterday') day.setDate(day.getDate() - 1) // not 24 hours: clocks are put forward and back
    return instantOf(day.getTime())
  }
  const span = parseDuration(text)
  const exact = span === undefined ? parseInstant(text) : instantIfAny(nowMs - span)
  if (exact) return exact
  const day = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)
  if (day) {
    const [year, month, date, hour, minute, second] = day.slice(1).map((part) => Number(part ?? 0))
    const local = new Date(year ?? 0, (month ?? 1) - 1, date, hour, minute, second)
    // The constructor rolls 2026-02-31 over into March; a typo must not become another day.
    if (local.getMonth() + 1 === month && local.getDate() === date && (hour ?? 0) < 24)
      return instantOf(local.getTime())
  }
  throw new SkeinError(
    'bad-time',
    `"${text}" is not a time`,
    'Write 1h, 7d, today, yesterday, 2026-01-17 or 2026-01-17T08:30:00Z',
  )
}

/** Short and readable: `45s`, `12m`, `3h05m`, `2d4h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours}h${String(minutes % 60).padStart(2, '0')}m`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`
}
