import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readPlain, removeRemains, writeAtomic } from '../disk/index.js'
import type { LocalIndex } from '../index/index.js'
import { newestEvents, pruneBlobs, pruneSegment, WrittenTimes } from '../journal/index.js'
import {
  DAY_MS,
  type Event,
  type EventId,
  firstIdOf,
  type Instant,
  instantIfAny,
  instantOf,
  isExpired,
  isInstant,
  isRosterEvent,
  itemsOf,
  msOf,
  type RetentionPolicy,
  readJson,
  retentionOf,
  sessionsTouchedBy,
  shapes,
} from '../model/index.js'
import type { ArchivePruned, LastRun, PruneReport } from './event-api.js'
import type { ProfileStore } from './profile-store.js'

export interface AutoPruneState {
  last_prune_time?: Instant
  prune_count: number
  total_pruned: number
  total_bytes_freed: number
  /** What the last run did. */
  last?: LastRun
}

/** All sessions whose record is behind are saved before anything is removed, this many per lock hold. */
const SAVE_BATCH = 2_000
/** So many items one event drops. */
const FORGET_BATCH = 500
/** A clock that has gone on by more than this since the last run may have been set wrong. */
const LEAP_MS = 30 * DAY_MS

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
  const older = new ItemsKept()
  const plan = await store.asWriter(() => planFor(store, policy, nowMs, options.dryRun))
  for (const segment of plan.segments) {
    await store.asWriter((index) => {
      if (!existsSync(store.journal.path(segment))) return // another process pruned it away meanwhile
      const written = new WrittenTimes(store.journal, segment, nowMs)
      const mayGo = (event: Event): boolean => {
        if (!isExpired(event.type, written.ageOf(event), policy)) return false
        const isOld = policy.minRetain === 0 || (plan.retainFrom !== undefined && event.id < plan.retainFrom)
        const goes = isOld && isSafeElsewhere(event, index, plan.rosterSafe) && !older.areKept(event)
        if (!goes) report.retained += 1
        return goes
      }
      const judged = (event: Event): boolean => {
        const goes = mayGo(event)
        if (!goes) older.note(event)
        return goes
      }
      const beforeRemoval = (events: readonly Event[]): void =>
        store.records.sync(new Set(events.flatMap(sessionsTouchedBy)))
      // The active segment is only looked at, for the count.
      const dryRun = options.dryRun || segment === store.journal.segments().at(-1)
      const { pruned, kept, bytesFreed } = pruneSegment(store.journal, segment, judged, { dryRun, beforeRemoval })
      report.pruned += pruned.length
      report.kept += kept
      report.bytes_freed += bytesFreed
      for (const event of pruned) report.by_type[event.type] = (report.by_type[event.type] ?? 0) + 1
    })
  }
  if (!options.dryRun) {
    for (const directory of directoriesOf(store)) removeRemains(directory, nowMs)
    if (report.pruned > 0) await store.asWriter(() => pruneBlobs(store.journal))
    await forgetSettled(store, policy, nowMs) // at the end: the next run takes their events, so that a dry run can say which
  }
  return report
}

/** Where files are replaced whole. */
function directoriesOf({ paths }: ProfileStore): string[] {
  const { directory, events, sessions, archive, agents, spool } = paths
  const root = dirname(dirname(directory))
  const inside = [join(events, 'blobs'), join(agents, 'removed'), join(spool, 'bad'), join(root, 'run')]
  return [root, directory, events, sessions, archive, agents, ...inside]
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
  const written = new WrittenTimes(store.journal, segment, nowMs)
  using reader = store.journal.open(segment, 0)
  for (let batch = reader?.next(); batch; batch = reader?.next()) {
    if (batch.events.some((event) => isExpired(event.type, written.ageOf(event), policy))) return true
  }
  return false
}

function isSafeElsewhere(event: Event, index: LocalIndex, rosterSafe: EventId | undefined): boolean {
  // The newest event of an item is all that is left of it; older ones say nothing that it does not.
  const { put } = itemsOf(event) ?? {}
  if (put) return index.work.through({ kind: put.kind, id: put.value.id }) !== event.id
  if (isRosterEvent(event)) return rosterSafe !== undefined && event.id <= rosterSafe
  return sessionsTouchedBy(event).every((id) => index.isSaved(id))
}

/** Work that was done and mail that was read long ago is dropped: first by an event, so that a rebuild drops it, too. */
async function forgetSettled(store: ProfileStore, policy: RetentionPolicy, nowMs: number): Promise<void> {
  for (const [kind, type] of [
    ['work', 'work_changed'],
    ['mail', 'mail_changed'],
  ] as const) {
    const { ttlMs } = retentionOf(type, policy)
    if (ttlMs <= 0) continue
    const before = firstIdOf(nowMs - ttlMs)
    for (let left = FORGET_BATCH; left === FORGET_BATCH; ) {
      left = await store.change(({ index }) => {
        const items = index.work.settledBefore(kind, before, FORGET_BATCH)
        return {
          events: items.length === 0 ? [] : [{ type: 'work_forgotten', payload: { items } }],
          result: () => items.length,
        }
      })
    }
  }
}

/** Which items still have events in the segments before: what says that they are gone must not go before these. */
class ItemsKept {
  readonly #keys = new Set<string>()

  note(event: Event): void {
    const { put } = itemsOf(event) ?? {}
    if (put) this.#keys.add(`${put.kind} ${put.value.id}`)
  }

  areKept(event: Event): boolean {
    const { gone = [] } = itemsOf(event) ?? {}
    return gone.some(({ kind, id }) => this.#keys.has(`${kind} ${id}`))
  }
}

/** Brings every checkpoint up to the journal's end. */
async function checkpointAll(store: ProfileStore): Promise<void> {
  await store.asWriter((index) => store.checkpointRoster(index))
  for (let left = SAVE_BATCH; left === SAVE_BATCH; ) {
    left = await store.asWriter((index) => index.transaction(() => store.saveRecords(index, index.unsaved(SAVE_BATCH))))
  }
}

/**
 * Whether an automatic run is due. A clock that was ahead for one command must not hold off all runs until then, nor make one of them
 * take everything: after a leap of the clock the next run waits until the new time has gone on for a while.
 */
export function isPruneDue(store: ProfileStore, { pruneIntervalMs }: RetentionPolicy): boolean {
  const nowMs = store.context.clock.now()
  const state = readState(store)
  const { last_prune_time, leap_seen_time } = state
  // Where none has run yet, the journal's own age decides: there is nothing to prune in one that was just begun.
  const since = last_prune_time ? msOf(last_prune_time) : store.journal.begunMs()
  if (since === undefined || Math.abs(nowMs - since) < pruneIntervalMs) return false
  if (nowMs - since <= LEAP_MS) return true
  const goneOnMs = leap_seen_time ? nowMs - msOf(leap_seen_time) : Number.NEGATIVE_INFINITY
  if (goneOnMs >= 0 && goneOnMs <= LEAP_MS) return goneOnMs >= pruneIntervalMs
  writeState(store, { ...state, leap_seen_time: instantOf(nowMs) })
  return false
}

export function autoPruneState(store: ProfileStore): AutoPruneState {
  const { leap_seen_time: _, ...state } = readState(store)
  return state
}

/** When the next automatic run is due at the earliest. */
export function nextPrune(store: ProfileStore, { pruneIntervalMs }: RetentionPolicy): Instant | undefined {
  const { last_prune_time } = readState(store)
  const since = last_prune_time ? msOf(last_prune_time) : store.journal.begunMs()
  return since === undefined ? undefined : instantIfAny(since + pruneIntervalMs)
}

/** What the event of a pruned archive says; undefined for one that says nothing of the kind. */
export function archivePruned({ ts, payload }: Event): ArchivePruned | undefined {
  const { logs, bytes_freed, by_age, by_size } = payload
  const counts = { logs, bytes_freed, by_age, by_size }
  return Object.values(counts).every(isCount) ? ({ at: ts, ...counts } as ArchivePruned) : undefined
}

/** What is on the disk: also when a leap of the clock was first seen. */
type StoredState = AutoPruneState & { leap_seen_time?: Instant }

function readState(store: ProfileStore): StoredState {
  const value = readJson(readPlain(store.paths.autoPrune)?.toString() ?? '') // never run, or not worth an error
  const stored = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const { last_prune_time, leap_seen_time, prune_count, total_pruned, total_bytes_freed, last } = stored
  const count = (value: unknown): number => (Number.isSafeInteger(value) ? Number(value) : 0)
  return {
    ...(isInstant(last_prune_time) ? { last_prune_time } : {}),
    ...(isInstant(leap_seen_time) ? { leap_seen_time } : {}),
    prune_count: count(prune_count),
    total_pruned: count(total_pruned),
    total_bytes_freed: count(total_bytes_freed),
    ...(isLastRun(last) ? { last } : {}),
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

function isLastRun(value: unknown): value is LastRun {
  if (!shapes.isObject(value) || !shapes.isObject(value.by_type)) return false
  const { pruned, kept, retained, bytes_freed, archived_sessions, by_type } = value
  return [pruned, kept, retained, bytes_freed, archived_sessions, ...Object.values(by_type)].every(isCount)
}

function writeState(store: ProfileStore, state: StoredState): void {
  writeAtomic(store.paths.autoPrune, `${JSON.stringify(state)}\n`, { durable: false })
}

/** At the end of a run: one that was killed before is done again. */
export async function rememberRun(store: ProfileStore, report: PruneReport): Promise<void> {
  const { pruned, kept, retained, bytes_freed, archived_sessions, by_type } = report
  await store.asWriter(() => {
    const before = autoPruneState(store)
    writeState(store, {
      last_prune_time: instantOf(store.context.clock.now()),
      prune_count: before.prune_count + 1,
      total_pruned: before.total_pruned + pruned,
      total_bytes_freed: before.total_bytes_freed + bytes_freed,
      last: { pruned, kept, retained, bytes_freed, archived_sessions, by_type },
    })
  })
}
