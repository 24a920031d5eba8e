/** Deeper than this nothing of ours is nested. `JSON.parse` takes any depth, and whoever walks the result runs out of stack. */
const MAX_DEPTH = 200

/** Whether a value has more levels than anyone can walk. */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (left === 0) return true
  for (const key in value) if (isTooDeep((value as Record<string, unknown>)[key], left - 1)) return true
  return false
}

/** A text this short cannot be nested too deeply. */
export const isTooShortToBeDeep = (json: string): boolean => json.length < 2 * MAX_DEPTH

/** What a text says, or undefined when it is no JSON that can be used. */
export function readJson(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json)
    return !isTooShortToBeDeep(json) && isTooDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}
