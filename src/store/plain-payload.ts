import { isTooDeep, SkeinError } from '../model/index.js'

/** A copy of what a program gave as payload, as JSON keeps it. What JSON would lose without a word is refused. */
export function plainPayload(given: unknown): Record<string, unknown> {
  const copy = isPlain(given) ? plainCopy(given) : undefined
  if (copy !== undefined) return copy
  throw new SkeinError(
    'bad-input',
    'The payload of an event must be a plain JSON object',
    'Use strings, numbers, booleans, lists and objects, at most 200 levels deep',
  )
}

/** Undefined for what JSON cannot hold: rings, big integers, what is nested too deeply. */
export function plainCopy(value: Record<string, unknown>): Record<string, unknown> | undefined {
  try {
    const copy = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
    return isTooDeep(copy) ? undefined : copy
  } catch {
    return undefined
  }
}

/** Not a `Map`, a `URL` or an `Error`: JSON makes an empty object of the one, a text of the other. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
