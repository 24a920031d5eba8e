import { existsSync, readFileSync, realpathSync, rmSync, statSync, utimesSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeAtomic } from '../disk/index.js'
import {
  type Erasable,
  filesIn,
  filesUnder,
  forgetInFile,
  holdsContent,
  isUnder,
  parsed,
  type Sweep,
  unpacked,
} from '../erasure/index.js'
import { pruneBlobs } from '../journal/index.js'
import type { ProfileStore } from './profile-store.js'

/**
 * The journal and all that replaces pruned parts of it: blobs, session records and their bundles, the roster and its older
 * generations; and the index, which is derived from them. Ids, times and the order of events stay, so that the derived state does.
 */
export class JournalErasure implements Erasable {
  readonly name = 'journal'

  constructor(private readonly store: ProfileStore) {}

  owns(path: string): boolean {
    const { events, sessions, roster } = this.store.paths
    return isUnder(path, events) || isUnder(path, sessions) || path.startsWith(roster) || this.#isIndex(path)
  }

  /** In one hold of the writer lock, which ends with a rebuild of the index. */
  async erase(sweep: Sweep): Promise<void> {
    const { store } = this
    if (sweep.dryRun) await store.asWriter(() => this.#eraseSources(sweep))
    else await store.rewriteSources(() => this.#eraseSources(sweep))
  }

  #eraseSources(sweep: Sweep): void {
    const { journal, paths } = this.store
    const { sessions, archive, roster, directory, events } = paths
    const blobs = eraseBlobs(this.store, sweep)
    eraseSegments(this.store, sweep, blobs)
    for (const path of filesIn(sessions)) eraseRecord(path, sweep)
    for (const path of filesIn(archive)) eraseBundle(path, sweep)
    for (const path of filesIn(directory).filter((one) => one.startsWith(roster))) sweep.file(path)
    const segments = new Set(journal.segments().map((segment) => journal.path(segment)))
    // What somebody else put there.
    const known = (path: string): boolean =>
      segments.has(path) || [join(events, 'blobs'), sessions, archive].includes(dirname(path))
    for (const path of [...filesUnder(events), ...filesUnder(sessions)])
      if (!known(path) && holdsContent(path)) sweep.file(path)
    if (!sweep.dryRun) this.#removeOldIndexes()
  }

  /** Older generations, and ones that could not be used, are not worth keeping. */
  #removeOldIndexes(): void {
    const { index, directory } = this.store.paths
    const current = existsSync(index) ? join(directory, basename(realpathSync(index))) : index
    const kept = [index, current].flatMap((path) => ['', '-wal', '-shm', '-journal'].map((side) => path + side))
    for (const path of filesIn(directory))
      if (this.#isIndex(path) && !kept.includes(path)) rmSync(path, { force: true })
  }

  #isIndex(path: string): boolean {
    const { directory, index } = this.store.paths
    const name = basename(path)
    const stem = basename(index, '.db')
    return dirname(path) === directory && name.startsWith(stem) && /^(?:-[\w-]+)?\.db/.test(name.slice(stem.length))
  }
}

/** Blobs are named by their content: a changed one is a new one, and the event has to name it. */
function eraseBlobs({ journal }: ProfileStore, sweep: Sweep): Map<string, { sha256: string; bytes: number }> {
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

function eraseSegments(store: ProfileStore, sweep: Sweep, blobs: ReadonlyMap<string, object>): void {
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

function eraseRecord(path: string, sweep: Sweep): void {
  const record = parsed(readFileSync(path, 'utf8'))
  if (!record || !sweep.isOfSession(record.value, 'id')) sweep.file(path)
  else {
    sweep.found(path, 1)
    if (!sweep.dryRun) rmSync(path)
  }
}

/** A bundle that cannot be unpacked is left to the proof, which says so. */
function eraseBundle(path: string, sweep: Sweep): void {
  const content = unpacked(readFileSync(path))
  if (content === undefined) return
  const isKept = (record: unknown): boolean => !sweep.isOfSession(record, 'id')
  const { value, count } = forgetInFile(content.toString(), sweep.forgetter, isKept)
  sweep.found(path, count)
  if (sweep.dryRun || count === 0) return
  if (value.trim() === '') rmSync(path)
  else writeAtomic(path, gzipSync(value), { durable: true })
}
