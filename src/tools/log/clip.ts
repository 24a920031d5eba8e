import { isObject } from '../json-value.js'

/** How much of a text a fact carries. What a person typed is kept as good as whole; a tool's output is only summarised. */
export const CLIP = { prompt: 256 * 1024, reply: 256 * 1024, result: 2_000, argument: 16 * 1024 } as const

/** The beginning of a text, with a note of how much was left out. Never ends inside a surrogate pair. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more)`
}

/** The result of a tool, as long as the reader wants it. */
export const clipResult = (text: string, { resultChars = CLIP.result }: { resultChars?: number }): string =>
  clip(text, resultChars)

/** Tool arguments with every long text clipped. Values nested deeper than any tool's arguments are left out. */
export function clipArguments(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return clip(value, CLIP.argument)
  if (typeof value !== 'object' || value === null) return value
  if (depth > 12) return '…'
  // Most arguments are short, and a copy of each costs more than this look.
  if (Object.values(value).every((item) => clipArguments(item, depth + 1) === item)) return value
  if (Array.isArray(value)) return value.map((item) => clipArguments(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clipArguments(item, depth + 1)]))
}

/** Arguments as an object, whatever the model wrote: text that is JSON is parsed, any other text is `input`. */
export function argumentsOf(value: unknown): Record<string, unknown> {
  if (isObject(value)) return clipArguments(value) as Record<string, unknown>
  if (typeof value !== 'string') return value === undefined || value === null ? {} : { input: clipArguments(value) }
  try {
    const parsed: unknown = JSON.parse(value)
    if (isObject(parsed)) return clipArguments(parsed) as Record<string, unknown>
  } catch {
    // Not JSON: a patch or a script, which is an argument like any other.
  }
  return { input: clip(value, CLIP.argument) }
}
