import type { Event } from '../model/index.js'
import { type Applied, count } from './redact.js'
import type { CallTiers } from './tier.js'

/** What a `privacy_redacted` event says: which rule was applied how often, and to what. Never a value. */
export interface RedactionNotice {
  /** A tool's name, or `text` for what people and agents wrote. */
  what: string
  tiers?: CallTiers
  rules: Applied
  count: number
}

export interface RedactionTotals {
  events: number
  count: number
  by_rule: Applied
  by_what: Applied
}

/** The payload for the event; nothing when no rule was applied, so that a clean call leaves no noise. */
export function redactionNotice(what: string, applied: Applied, tiers?: CallTiers): RedactionNotice | undefined {
  const total = sum(applied)
  return total === 0 ? undefined : { what, ...(tiers ? { tiers } : {}), rules: { ...applied }, count: total }
}

/** Adds up the notices among events, for people who want to know what their policy does. */
export function totalRedactions(events: Iterable<Event>): RedactionTotals {
  const totals: RedactionTotals = { events: 0, count: 0, by_rule: {}, by_what: {} }
  for (const { type, payload } of events) {
    if (type !== 'privacy_redacted') continue
    const rules = countsIn(payload.rules)
    totals.events += 1
    totals.count += sum(rules)
    for (const [rule, times] of Object.entries(rules)) count(totals.by_rule, rule, times)
    if (typeof payload.what === 'string') count(totals.by_what, payload.what, sum(rules))
  }
  return totals
}

const sum = (applied: Applied): number => Object.values(applied).reduce((total, times) => total + times, 0)

/** An event comes from a file, so its counts may be anything. */
function countsIn(rules: unknown): Applied {
  if (typeof rules !== 'object' || rules === null) return {}
  return Object.fromEntries(
    Object.entries(rules).filter((entry): entry is [string, number] => Number.isInteger(entry[1])),
  )
}
