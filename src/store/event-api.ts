import type { FeedEntry } from '../journal/index.js'
import type { Event, EventId, Instant, Visibility } from '../model/index.js'
import type { When } from './moments.js'

export interface EventFilter {
  /** Exact type or a pattern with `*`. */
  type?: string
  session?: string
  agent?: string
  actor?: string
  since?: When
  until?: When
  /** Only events for the activity stream. */
  feed?: boolean
}

export interface NewEvent {
  type: string
  session?: string
  agent?: string
  payload?: Record<string, unknown>
  visibility?: Visibility
  ts?: Instant
}

export interface Events {
  /** Appends a fact that changes no state (mail, nudge, hook ...). Types that change state are refused: use `sessions` and `roster`. */
  append(event: NewEvent): Promise<Event>
  /** Oldest first. `last` keeps only the newest that match. */
  read(filter?: EventFilter & { last?: number }): Promise<Event[]>
  /** Follows the journal, beginning with the newest `last` events, or with all that came after one; ends when the signal aborts. */
  tail(options: EventFilter & { last?: number; after?: EventId; signal?: AbortSignal }): AsyncIterable<Event>
  /** The id of the newest event: "everything up to now". Undefined in an empty journal. */
  lastId(): Promise<EventId | undefined>
  /** The activity stream: repeated news once, bursts in one line. `last` counts events. */
  feed(filter?: EventFilter & { last?: number }): Promise<FeedEntry[]>
  stats(): Promise<EventStats>
  /** The worth of what is kept, per type. */
  decay(): Promise<TypeDecay[]>
  prune(options?: { dryRun?: boolean; auto?: boolean }): Promise<PruneReport>
  policy(): Promise<PolicyReport>
  /** `pattern` is a type, a pattern, or `default`. Written to the user's config file, the rest of which stays as it is. */
  setTtl(pattern: string, ttl: string): Promise<PolicyReport>
  resetTtls(): Promise<PolicyReport>
}

export interface EventStats {
  events: number
  bytes: number
  segments: number
  /** Lines that could not be read as events, and events of types this version does not know: kept, not counted above. */
  unreadable_lines: number
  unknown_types: number
  by_type: Record<string, number>
  by_age: { '0-1d': number; '1-7d': number; '7-30d': number; '30d+': number }
  /** Not expired, but worth less than a quarter. */
  at_risk: number
  expired: number
  oldest_event?: Instant
  newest_event?: Instant
  auto_prune: {
    last_prune_time?: Instant
    prune_count: number
    total_pruned: number
    total_bytes_freed: number
    /** What the last run did: events by type, sessions whose record was packed, and what it kept although it had expired. */
    last?: LastRun
    /** Not before then, unless by hand; undefined when the journal is empty. */
    next_prune_time?: Instant
    /** The last time that the archive was pruned, as far as the journal goes back. */
    archive?: ArchivePruned
  }
}

/** `retained`: expired, and kept all the same: among the newest, or not yet safe in a checkpoint. */
export type LastRun = Pick<
  PruneReport,
  'pruned' | 'kept' | 'retained' | 'bytes_freed' | 'archived_sessions' | 'by_type'
>

/** Logs that were removed from the archive, by which setting. */
export interface ArchivePruned {
  at: Instant
  logs: number
  bytes_freed: number
  by_age: number
  by_size: number
}

export interface TypeDecay {
  type: string
  ttl: string
  curve: string
  events: number
  average_worth: number
  lowest_worth: number
  at_risk: number
  expired: number
}

export interface PruneReport {
  dry_run: boolean
  /** True when an automatic run was not due yet. */
  skipped: boolean
  pruned: number
  kept: number
  bytes_freed: number
  by_type: Record<string, number>
  /** Expired, but kept: among the newest `min_retain`, or not yet safe in a checkpoint. */
  retained: number
  archived_sessions: number
}

export interface PolicyReport {
  default_ttl: string
  min_retain: number
  prune_interval: string
  ttls: Record<string, string>
  /** Where settings are read from; it need not exist. */
  config_file: string
}
