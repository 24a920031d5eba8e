import { isUnreadCount, tokenCount } from '../model/index.js'

/**
 * Reading other programs' JSON by hand: a log line is looked at once, by the million, and a schema library would cost
 * several times the parse. Every accessor answers undefined (or 0) for a value of another kind, so no shape can throw.
 */
export type JsonObject = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function objectAt(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key]
  return isObject(value) ? value : undefined
}

export function listAt(from: JsonObject | undefined, key: string): readonly unknown[] {
  const value = from?.[key]
  return Array.isArray(value) ? value : []
}

/** A text that is there and not empty. */
export function textAt(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A count of something: a whole number from 0, or 0 when it is anything else, which `takeUnreadCounts` then tells. */
export function countAt(from: JsonObject | undefined, key: string): number {
  const value = from?.[key]
  const count = tokenCount(value)
  if (count === 0 && isUnreadCount(value)) isUnread = true
  return count
}

let isUnread = false

/** Whether a count could not be read since this was asked last. Whoever reads a record asks after it: it waits for nothing in between. */
export function takeUnreadCounts(): boolean {
  const was = isUnread
  isUnread = false
  return was
}

export function numberAt(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
