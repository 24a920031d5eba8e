import { type Instant, instantOf, parseInstant } from '../model/index.js'
import { type JsonObject, numberAt, textAt } from './json-value.js'

// The form every tool writes. It is already an Instant, so the common case needs no Date at all.
const CANONICAL = /^20\d\d-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const LAST_MS = 253_402_300_799_999

export function momentOf(text: string | undefined): Instant | undefined {
  if (text === undefined || text.length > 40) return undefined
  return CANONICAL.test(text) ? (text as Instant) : parseInstant(text)
}

export const momentAt = (from: JsonObject | undefined, key: string): Instant | undefined => momentOf(textAt(from, key))

/** Milliseconds since 1970, as some tools write them. */
export function momentOfMs(ms: number | undefined): Instant | undefined {
  return ms !== undefined && ms > 0 && ms <= LAST_MS ? instantOf(Math.trunc(ms)) : undefined
}

export const momentOfMsAt = (from: JsonObject | undefined, key: string): Instant | undefined =>
  momentOfMs(numberAt(from, key))

/** From the first to the second, or undefined when one is unknown or they are the wrong way round. */
export function spanMs(from: Instant | undefined, to: Instant | undefined): number | undefined {
  if (from === undefined || to === undefined) return undefined
  const ms = Date.parse(to) - Date.parse(from)
  return ms >= 0 ? ms : undefined
}
