import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeAtomic } from '../disk/index.js'
import { pruneBlobs } from '../journal/index.js'
import type { ProfileStore } from '../store/index.js'
import { forgetInFile, parsed } from './file-text.js'
import { type Sweep, unpacked } from './sweep.js'

/**
 * The journal and all that stands in for pruned parts of it: blobs, session records and their bundles, the roster and its older
 * generations. Under the writer lock. Ids, times and the order of events stay, so that the state that is derived from them does.
 */
export function sweepState(store: ProfileStore, sweep: Sweep): void {
  const blobs = sweepBlobs(store, sweep)
  sweepJournal(store, sweep, blobs)
  const { sessions, archive, roster, directory } = store.paths
  for (const path of filesIn(sessions)) sweepRecord(path, sweep)
  for (const path of filesIn(archive)) sweepBundle(path, sweep)
  for (const path of filesIn(directory).filter((one) => one.startsWith(roster))) sweep.file(path)
}

/** Blobs are named by their content: a changed one is a new one, and the event has to name it. */
function sweepBlobs({ journal }: ProfileStore, sweep: Sweep): Map<string, { sha256: string; bytes: number }> {
  const renamed = new Map<string, { sha256: string; bytes: number }>()
  for (const path of filesIn(join(journal.directory, 'blobs'))) {
    const before = readFileSync(path, 'utf8')
    const { value, count } = forgetInFile(before, sweep.forgetter)
    if (count === 0) continue
    sweep.found(path, count)
    const name = /([0-9a-f]{64})\.json$/.exec(path)?.[1]
    if (sweep.dryRun) continue
    if (name === undefined) rmSync(path)
    else renamed.set(name, journal.blobs.put(value.trimEnd()))
  }
  return renamed
}

function sweepJournal(store: ProfileStore, sweep: Sweep, blobs: ReadonlyMap<string, object>): void {
  const { journal } = store
  const active = journal.segments().at(-1)
  for (const segment of journal.segments()) {
    const path = journal.path(segment)
    const { value, count } = forgetInFile(
      readFileSync(path, 'utf8'),
      sweep.forgetter,
      (event) => !sweep.isOfSession(event),
    )
    const content = blobs.size > 0 ? withBlobs(value, blobs) : value
    if (count > 0) sweep.found(path, count)
    if (sweep.dryRun || (count === 0 && content === value)) continue
    // Others have the active segment open to append to it: they go on in a new one.
    if (segment === active) journal.seal()
    const { atime, mtime } = statSync(path)
    writeAtomic(path, content, { durable: true })
    utimesSync(path, atime, mtime) // it says when its events were written
  }
  if (!sweep.dryRun && (blobs.size > 0 || sweep.sessions.size > 0)) pruneBlobs(journal)
}

function withBlobs(lines: string, blobs: ReadonlyMap<string, object>): string {
  return lines.replace(/"\$blob":\{"sha256":"([0-9a-f]{64})"[^}]*\}/g, (reference, sha256: string) => {
    const now = blobs.get(sha256)
    return now ? `"$blob":${JSON.stringify(now)}` : reference
  })
}

function sweepRecord(path: string, sweep: Sweep): void {
  const record = parsed(readFileSync(path, 'utf8'))
  if (!record || !sweep.isOfSession(record.value, 'id')) sweep.file(path)
  else {
    sweep.found(path, 1)
    if (!sweep.dryRun) rmSync(path)
  }
}

/** A bundle that cannot be unpacked is left to the proof, which says so. */
function sweepBundle(path: string, sweep: Sweep): void {
  const content = unpacked(readFileSync(path))
  if (content === undefined) return
  const isKept = (record: unknown): boolean => !sweep.isOfSession(record, 'id')
  const { value, count } = forgetInFile(content.toString(), sweep.forgetter, isKept)
  sweep.found(path, count)
  if (sweep.dryRun || count === 0) return
  if (value.trim() === '') rmSync(path)
  else writeAtomic(path, gzipSync(value), { durable: true })
}

/** Plain files, not what lies in directories below. */
export function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(directory, entry.name))
}
