import { redactedMark } from './mark.js'
import { canNameSecret, secretField } from './secrets/assignment-rules.js'
import { findSecrets } from './secrets/find-secrets.js'

/** How often each rule was applied. Holds no value that was taken out. */
export type Applied = Record<string, number>

export interface Redaction {
  text: string
  applied: Applied
}

/** A secret that was taken out can leave another one readable beside it, so it is done again; a text that needs more is not kept. */
export const ROUNDS = 8
/** A field's name shorter than this is not looked at: no token fits into it. */
const LONG_NAME = 20

/** The text without its secrets. Doing it twice gives what doing it once gives. */
export function redact(text: string): Redaction {
  const applied: Applied = {}
  return { text: redactInto(text, applied), applied }
}

/** As `redact`, adding to a count that is kept elsewhere. */
export function redactInto(text: string, applied: Applied): string {
  let current = text
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findSecrets(current)
    if (found.length === 0) return current
    let next = ''
    let from = 0
    for (const { start, end, rule } of found) {
      next += current.slice(from, start) + redactedMark(rule)
      from = end
      count(applied, rule)
    }
    current = next + current.slice(from)
  }
  count(applied, 'unsettled-text')
  return findSecrets(current).length === 0 ? current : redactedMark('unsettled-text')
}

/** Nobody nests values deeper, and walking through them needs a stack. */
export const DEEPEST = 500

/** Every string within a JSON value. A field's name counts as what stands before its value. The value itself is not changed. */
export function redactValue(value: unknown, applied: Applied, depth = 0): unknown {
  if (typeof value === 'string') return redactInto(value, applied)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) {
    count(applied, 'nested-too-deep')
    return redactedMark('nested-too-deep')
  }
  if (Array.isArray(value)) return redactList(value, applied, depth)
  let changed = redactPair(value, applied)
  for (const name in value) {
    if (changed !== undefined && name === 'value') continue
    const before = (value as Record<string, unknown>)[name]
    const after = redactField(name, before, applied, depth)
    const kept = name.length < LONG_NAME ? name : redactInto(name, applied)
    if (after === before && kept === name) continue
    changed ??= { ...value }
    if (kept !== name) delete changed[name]
    changed[kept] = after
  }
  return changed ?? value
}

/** `{ "name": "DB_PASSWORD", "value": "…" }`: the name stands in a field of its own. */
function redactPair(record: object, applied: Applied): Record<string, unknown> | undefined {
  const { name, key, value } = record as Record<string, unknown>
  const told = name ?? key
  if (typeof told !== 'string' || typeof value !== 'string' || !canNameSecret(told)) return undefined
  const rule = secretField(told, value) ?? secretField(told, redactInto(value, {}))
  if (rule === undefined) return undefined
  count(applied, rule)
  return { ...record, value: redactedMark(rule) }
}

/** What the name says counts for the whole value, as it is and as it would be kept; a finding that is all of it says more. */
function redactField(name: string, value: unknown, applied: Applied, depth: number): unknown {
  const redacted = redactValue(value, applied, depth + 1)
  if (typeof value !== 'string' || typeof redacted !== 'string' || isMark(redacted)) return redacted
  const rule = secretField(name, value) ?? (redacted === value ? undefined : secretField(name, redacted))
  if (rule === undefined) return redacted
  count(applied, rule)
  return redactedMark(rule)
}

const isMark = (text: string): boolean => /^\[REDACTED(?::[a-z-]+)?\]$/.test(text)

/** As a command first: of a password that has another secret in it, the rest must go, too. Again while one shows another. */
function redactList(list: unknown[], applied: Applied, depth: number): unknown[] {
  let current = list
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = redactItems(redactCommand(current, applied), applied, depth)
    if (next === current) return current
    current = next
  }
  return current
}

function redactItems(list: unknown[], applied: Applied, depth: number): unknown[] {
  let changed: unknown[] | undefined
  for (let k = 0; k < list.length; k += 1) {
    const after = redactValue(list[k], applied, depth + 1)
    if (after === list[k]) continue
    changed ??= [...list]
    changed[k] = after
  }
  return changed ?? list
}

/** A command as a list of its words: an option and its value are two items, and only together do they tell. */
function redactCommand(list: unknown[], applied: Applied): unknown[] {
  if (!list.some((item) => typeof item === 'string' && item.startsWith('-'))) return list
  // Lists within it are looked at on their own.
  const told = JSON.stringify(list.map((item) => (typeof item === 'string' ? item : null)))
  const found: Applied = {}
  const text = redactInto(told, found)
  if (text === told) return list
  addApplied(applied, found)
  const words = parsedList(text)
  if (words?.length !== list.length) return [text] // a mark went across a quote: the words count, not their shape
  return list.map((item, at) => (typeof item === 'string' ? words[at] : item))
}

function parsedList(text: string): unknown[] | undefined {
  try {
    return JSON.parse(text) as unknown[]
  } catch {
    return undefined
  }
}

export function count(applied: Applied, rule: string, times = 1): void {
  applied[rule] = (applied[rule] ?? 0) + times
}

export function addApplied(sum: Applied, more: Applied): void {
  for (const [rule, times] of Object.entries(more)) count(sum, rule, times)
}
