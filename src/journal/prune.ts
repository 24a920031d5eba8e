import { readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { syncPath, writeAtomic } from '../disk/index.js'
import type { Event, EventId } from '../model/index.js'
import { decodeLine } from './event-line.js'
import type { Journal } from './journal.js'

export interface SegmentPruning {
  pruned: Event[]
  kept: number
  bytesFreed: number
}

/**
 * Rewrites one sealed segment without the events that may go. Needs the writer lock, and refuses the active segment:
 * an appender may be about to write there. Lines that are no events are kept as they are.
 */
export function pruneSegment(
  journal: Journal,
  segment: number,
  mayGo: (event: Event) => boolean,
  options: { dryRun: boolean; beforeRemoval?: (pruned: readonly Event[]) => void },
): SegmentPruning {
  if (!options.dryRun && segment === journal.segments().at(-1))
    throw new Error(`segment ${segment} is active and cannot be pruned`)
  const path = journal.path(segment)
  const lines = readFileSync(path, 'utf8').split('\n')
  const pruned: Event[] = []
  const kept = lines.filter((line) => {
    if (line === '') return false
    const reading = decodeLine(line, (reference) => journal.blobs.get(reference))
    if (reading.kind === 'unreadable' || !mayGo(reading.event)) return true
    pruned.push(reading.event)
    return false
  })
  const { size: before, atime, mtime } = statSync(path)
  if (pruned.length === 0) return { pruned, kept: kept.length, bytesFreed: 0 }
  const content = kept.map((line) => `${line}\n`).join('')
  if (!options.dryRun) {
    options.beforeRemoval?.(pruned)
    if (kept.length > 0) {
      writeAtomic(path, content, { durable: true })
      utimesSync(path, atime, mtime) // it says when its events were written
    } else rmSync(path)
    syncPath(journal.directory)
  }
  return { pruned, kept: kept.length, bytesFreed: before - Buffer.byteLength(content) }
}

/** The id of the oldest among the newest `count` events, or undefined when there are not that many. */
export function newestEvents(journal: Journal, count: number): EventId | undefined {
  const ids: EventId[] = []
  for (const segment of journal.segments().reverse()) {
    const inSegment: EventId[] = []
    using reader = journal.open(segment, 0)
    for (let batch = reader?.next(); batch; batch = reader?.next())
      inSegment.push(...batch.events.map((event) => event.id))
    ids.unshift(...inSegment)
    if (ids.length >= count) return count > 0 ? ids.at(-count) : undefined
  }
  return undefined
}

/** Deletes blobs that no line of the journal refers to. Needs the writer lock. */
export function pruneBlobs(journal: Journal): void {
  const referenced = new Set<string>()
  for (const segment of journal.segments()) {
    for (const line of readFileSync(journal.path(segment), 'utf8').split('\n')) {
      if (!line.includes('"$blob"')) continue
      for (const [, sha256 = ''] of line.matchAll(/"\$blob":\{"sha256":"([0-9a-f]{64})"/g)) referenced.add(sha256)
    }
  }
  journal.blobs.keepOnly(referenced)
}
