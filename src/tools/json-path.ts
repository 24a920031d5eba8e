/** A place in a JSON value: `.items[0].id`. */
export type JsonPath = readonly string[]

const STEP = /\.([A-Za-z_$@][\w$@-]*)|\[(\d+)\]/g
const WHOLE = /^(\.[A-Za-z_$@][\w$@-]*|\[\d+\])+$/

/** Undefined for a text that is not a path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (!WHOLE.test(text)) return undefined
  return [...text.matchAll(STEP)].map(([, name, index]) => name ?? index ?? '')
}

/** What is at that place; undefined where something on the way is missing. Nothing inherited counts. */
export function valueAt(value: unknown, path: JsonPath): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Object.getOwnPropertyDescriptor(at, step)?.value
  }
  return at
}
