import type { Event } from '../model/index.js'
import { type Applied, addApplied, count } from './redact.js'

/** What a `privacy_redacted` event says about one session: which rule was applied how often, and to which tools. Never a value. */
export interface RedactionNotice {
  /** A later notice of the same session and run replaces the earlier one: its counts include it. */
  run: string
  rules: Applied
  /** By the tool's name; `text` is what people and agents wrote. */
  tools: Applied
  count: number
}

export interface RedactionTotals {
  /** Notices that were counted. */
  events: number
  count: number
  by_rule: Applied
  by_tool: Applied
  by_session: Applied
  by_day: Applied
}

/** The payload for the event; nothing when no rule was applied, so that a clean session leaves no noise. */
export function redactionNotice({ run, rules, tools }: Omit<RedactionNotice, 'count'>): RedactionNotice | undefined {
  const total = sum(rules)
  return total === 0 ? undefined : { run, rules: { ...rules }, tools: { ...tools }, count: total }
}

/** Adds up the notices among events, for people who want to know what their policy does. */
export function totalRedactions(events: Iterable<Event>, dayOf: (ts: string) => string): RedactionTotals {
  const notices = new Map<string, Event>()
  for (const event of events) {
    if (event.type !== 'privacy_redacted') continue
    const { run } = event.payload
    notices.set(typeof run === 'string' ? `${event.session ?? ''} ${run}` : event.id, event)
  }
  const totals: RedactionTotals = { events: 0, count: 0, by_rule: {}, by_tool: {}, by_session: {}, by_day: {} }
  for (const { ts, session, payload } of notices.values()) {
    const rules = countsIn(payload.rules)
    totals.events += 1
    totals.count += sum(rules)
    addApplied(totals.by_rule, rules)
    addApplied(totals.by_tool, countsIn(payload.tools))
    if (session !== undefined) count(totals.by_session, session, sum(rules))
    count(totals.by_day, dayOf(ts), sum(rules))
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
