import { existsSync, readFileSync } from 'node:fs'
import { writeAtomic } from '../disk/index.js'
import type { SqliteIndex } from '../index/index.js'
import { newestEvents, pruneBlobs, pruneSegment } from '../journal/index.js'
import {
  type Event,
  type EventId,
  type Instant,
  instantOf,
  isExpired,
  isRosterEvent,
  parseInstant,
  type RetentionPolicy,
  sessionsTouchedBy,
} from '../model/index.js'
import type { PruneReport } from './api.js'
import type { ProfileStore } from './profile-store.js'

export interface AutoPruneState {
  last_prune_time?: Instant
  prune_count: number
  total_pruned: number
  total_bytes_freed: number
}

/** All sessions whose record is behind are saved before anything is removed, this many per lock hold. */
const SAVE_BATCH = 2_000

/**
 * Removes expired events from sealed segments, one segment per lock hold, so that writers wait for a blink at most.
 * An event goes only when what it did is safe elsewhere: session events in a record that is on the disk, roster events
 * in the roster file and each of its backups. Pruning therefore cannot change the state, nor what a recovery would find.
 */
export async function prune(
  store: ProfileStore,
  policy: RetentionPolicy,
  options: { dryRun: boolean },
): Promise<PruneReport> {
  const nowMs = store.context.clock.now()
  const report = emptyReport({ dryRun: options.dryRun })
  // Also before a dry run: checkpoints are due anyway, and without them it would not say what a real run does.
  await checkpointAll(store)
  const plan = await store.asWriter(() => planFor(store, policy, nowMs, options.dryRun))
  for (const segment of plan.segments) {
    await store.asWriter((index) => {
      if (!existsSync(store.journal.path(segment))) return // another process pruned it away meanwhile
      const mayGo = (event: Event): boolean => {
        if (!isExpired(event, nowMs, policy)) return false
        const isOld = policy.minRetain === 0 || (plan.retainFrom !== undefined && event.id < plan.retainFrom)
        const goes = isOld && isSafeElsewhere(event, index, plan.rosterSafe)
        if (!goes) report.retained += 1
        return goes
      }
      const beforeRemoval = (events: readonly Event[]): void =>
        store.records.sync(new Set(events.flatMap(sessionsTouchedBy)))
      // The active segment is only looked at, for the count.
      const dryRun = options.dryRun || segment === store.journal.segments().at(-1)
      const { pruned, kept, bytesFreed } = pruneSegment(store.journal, segment, mayGo, { dryRun, beforeRemoval })
      report.pruned += pruned.length
      report.kept += kept
      report.bytes_freed += bytesFreed
      for (const event of pruned) report.by_type[event.type] = (report.by_type[event.type] ?? 0) + 1
    })
  }
  if (!options.dryRun) {
    if (report.pruned > 0) await store.asWriter(() => pruneBlobs(store.journal))
    rememberRun(store, nowMs, report)
  }
  return report
}

export function emptyReport({ dryRun, skipped = false }: { dryRun: boolean; skipped?: boolean }): PruneReport {
  return {
    dry_run: dryRun,
    skipped,
    pruned: 0,
    kept: 0,
    bytes_freed: 0,
    by_type: Object.create(null), // a type may be called `constructor`
    retained: 0,
    archived_sessions: 0,
  }
}

interface Plan {
  segments: number[]
  /** This event and all newer ones stay, however old. Undefined when there are too few events to prune any. */
  retainFrom: EventId | undefined
  rosterSafe: EventId | undefined
}

function planFor(store: ProfileStore, policy: RetentionPolicy, nowMs: number, dryRun: boolean): Plan {
  const { journal } = store
  const retainFrom = newestEvents(journal, policy.minRetain)
  const active = journal.segments().at(-1)
  const isActiveDue = active !== undefined && hasExpired(store, active, policy, nowMs)
  if (isActiveDue && !dryRun && (retainFrom !== undefined || policy.minRetain === 0)) journal.seal()
  return { segments: journal.segments(), retainFrom, rosterSafe: store.rosterFile.safeThrough() }
}

function hasExpired(store: ProfileStore, segment: number, policy: RetentionPolicy, nowMs: number): boolean {
  using reader = store.journal.open(segment, 0)
  for (let batch = reader?.next(); batch; batch = reader?.next()) {
    if (batch.events.some((event) => isExpired(event, nowMs, policy))) return true
  }
  return false
}

function isSafeElsewhere(event: Event, index: SqliteIndex, rosterSafe: EventId | undefined): boolean {
  if (isRosterEvent(event)) return rosterSafe !== undefined && event.id <= rosterSafe
  return sessionsTouchedBy(event).every((id) => index.isSaved(id))
}

/** Brings every checkpoint up to the journal's end. */
async function checkpointAll(store: ProfileStore): Promise<void> {
  await store.asWriter((index) => store.checkpointRoster(index))
  for (let left = SAVE_BATCH; left === SAVE_BATCH; ) {
    left = await store.asWriter((index) => index.transaction(() => store.saveRecords(index, index.unsaved(SAVE_BATCH))))
  }
}

export function isPruneDue(store: ProfileStore, policy: RetentionPolicy): boolean {
  const { last_prune_time } = autoPruneState(store)
  // Where none has run yet, the journal's own age decides: there is nothing to prune in one that was just begun.
  const since = last_prune_time ? Date.parse(last_prune_time) : store.journal.begunMs()
  return since !== undefined && store.context.clock.now() - since >= policy.pruneIntervalMs
}

export function autoPruneState(store: ProfileStore): AutoPruneState {
  try {
    const { last_prune_time, prune_count, total_pruned, total_bytes_freed } = JSON.parse(
      readFileSync(store.paths.autoPrune, 'utf8'),
    )
    const last = typeof last_prune_time === 'string' ? parseInstant(last_prune_time) : undefined
    const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
    return {
      ...(last ? { last_prune_time: last } : {}),
      prune_count: count(prune_count),
      total_pruned: count(total_pruned),
      total_bytes_freed: count(total_bytes_freed),
    }
  } catch {
    return { prune_count: 0, total_pruned: 0, total_bytes_freed: 0 } // never run, or not worth an error
  }
}

function rememberRun(store: ProfileStore, nowMs: number, report: PruneReport): void {
  const before = autoPruneState(store)
  const state: AutoPruneState = {
    last_prune_time: instantOf(nowMs),
    prune_count: before.prune_count + 1,
    total_pruned: before.total_pruned + report.pruned,
    total_bytes_freed: before.total_bytes_freed + report.bytes_freed,
  }
  writeAtomic(store.paths.autoPrune, `${JSON.stringify(state)}\n`, { durable: false })
}
