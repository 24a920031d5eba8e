import { type Instant, instantOf, isInstant, parseInstant } from '../../model/index.js'
import { type JsonObject, numberAt, textAt } from '../json-value.js'

const LAST_MS = 253_402_300_799_999

export function momentOf(text: string | undefined): Instant | undefined {
  if (text === undefined || text.length > 40) return undefined
  // The form every tool writes is already an Instant, so the common case needs no Date at all.
  return isInstant(text) ? text : parseInstant(text)
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
