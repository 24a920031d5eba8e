import { type Event, type Instant, summarize } from '../model/index.js'

/** One line of the activity stream. */
export interface FeedEntry {
  ts: Instant
  type: string
  actor: string
  summary: string
  /** How many events it combines, when more than one. */
  count?: number
}

const SAME_DONE_MS = 10_000
const BURST_MS = 30_000
const BURST = 3
const BURSTING = new Set(['spawn', 'sling', 'session_start'])

export const isForFeed = (event: Event): boolean => event.visibility !== 'audit'

/**
 * What people want to see of the journal: nothing that is for the audit only, a "done" that is told twice within ten
 * seconds once, and three or more starts of one actor within thirty seconds as one line.
 */
export function feedOf(events: readonly Event[]): FeedEntry[] {
  const shown = events.filter(isForFeed).filter(isFirstTelling())
  const entries: FeedEntry[] = []
  for (let at = 0; at < shown.length; ) {
    const burst = burstFrom(shown, at)
    const event = shown[at] as Event
    const entry = { ts: event.ts, type: event.type, actor: event.actor, summary: summarize(event) }
    if (burst >= BURST) {
      entries.push({ ...entry, summary: `${event.actor}: ${burst} x ${event.type.replaceAll('_', ' ')}`, count: burst })
      at += burst
    } else {
      entries.push(entry)
      at += 1
    }
  }
  return entries
}

function isFirstTelling(): (event: Event) => boolean {
  const told = new Map<string, number>()
  return (event) => {
    if (event.type !== 'done') return true
    const key = JSON.stringify([event.actor, event.session, event.payload])
    const at = Date.parse(event.ts)
    const before = told.get(key)
    told.set(key, at)
    return before === undefined || at - before > SAME_DONE_MS
  }
}

function burstFrom(events: readonly Event[], from: number): number {
  const first = events[from]
  if (!first || !BURSTING.has(first.type)) return 1
  let length = 1
  for (let next = events[from + length]; next; next = events[from + length]) {
    const isSame = next.type === first.type && next.actor === first.actor
    if (!isSame || Date.parse(next.ts) - Date.parse(first.ts) > BURST_MS) break
    length += 1
  }
  return length
}
