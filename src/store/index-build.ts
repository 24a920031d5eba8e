import { closeSync, openSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { buildLocalIndex, type FoldedSession, type LocalIndex } from '../index/index.js'
import type { Journal } from '../journal/index.js'
import type { Context, Event, SessionId } from '../model/index.js'
import type { RosterFile } from './roster-file.js'
import type { SessionArchive } from './session-archive.js'
import type { SessionRecords, UnreadRecord } from './session-records.js'
import { setAside } from './set-aside.js'

/** Everything an index is derived from, and the index before it, which may know what a damaged record no longer says. */
export interface IndexSources {
  journal: Journal
  records: SessionRecords
  archive: SessionArchive
  rosterFile: RosterFile
  old: LocalIndex | undefined
  context: Context
  readOnly: boolean
}

/**
 * Archive first, then records, then the roster, then the journal: each tells only what the one before did not know yet,
 * because every row remembers the last event it has seen. In memory when there is no path. Memory stays bounded whatever the number of sessions.
 */
export function buildIndex(path: string | undefined, sources: IndexSources): LocalIndex {
  // SQLite would make it readable to everyone.
  if (path !== undefined) closeSync(openSync(path, 'w', 0o600))
  return buildLocalIndex(path, (index) => {
    loadArchive(index, sources)
    loadRecords(index, sources)
    loadRoster(index, sources)
    replayJournal(index, sources)
  })
}

function loadArchive(index: LocalIndex, { archive, context }: IndexSources): void {
  const unread = { damaged: new Set<string>(), newer: new Set<string>() }
  for (const folded of archive.all()) {
    if ('session' in folded) index.load(folded)
    else unread[folded.why].add(folded.path)
  }
  for (const path of unread.damaged)
    context.warn(`${path} is damaged; unreadable parts were skipped, and the file is unchanged`)
  for (const path of unread.newer)
    context.warn(`${path} holds sessions that a newer Skein wrote; they are not shown, and the file is unchanged`)
}

function loadRecords(index: LocalIndex, { records, old, context, readOnly }: IndexSources): void {
  const unread: UnreadRecord[] = []
  let done = 0
  for (const record of records.all()) {
    if ('session' in record) index.load(record)
    else unread.push(record)
    done += 1
    if (done % 5_000 === 0) context.progress({ what: 'reading session records', done, total: done })
  }
  const newer = unread.filter(({ why }) => why === 'newer')
  if (newer.length > 0) context.warn(newerRecords(newer))
  for (const { id } of newer) {
    const known = salvaged(old, id)
    if (known) index.load(known)
  }
  for (const { id, path } of unread.filter(({ why }) => why === 'damaged')) {
    const known = salvaged(old, id)
    const kept = readOnly ? path : setAside(path, 'damaged', context.clock.now())
    const rest = known ? 'it was restored from the index' : 'its facts in the journal were kept'
    context.warn(`The record of session ${id} could not be parsed and was kept as ${basename(kept)}; ${rest}`)
    if (!known) continue
    index.load(known)
    if (!readOnly) records.save(known)
  }
}

function newerRecords([first, ...others]: readonly UnreadRecord[]): string {
  const and = others.length > 0 ? ` (and ${others.length} more)` : ''
  const rest = 'they are unchanged, and only what the journal says of these sessions is shown. Update Skein'
  return `Session records were written by a newer Skein: ${first ? basename(first.path) : ''}${and}; ${rest}`
}

function salvaged(old: LocalIndex | undefined, id: SessionId): FoldedSession | undefined {
  try {
    return old?.read(id)
  } catch {
    return undefined // damaged as well
  }
}

function loadRoster(index: LocalIndex, { rosterFile, context, readOnly }: IndexSources): void {
  const { checkpoint, source, kept, newer } = rosterFile.recover(context.clock.now(), { readOnly })
  for (const path of newer) context.warn(newerRoster(basename(path)))
  for (const path of kept) {
    context.warn(`${basename(path.replace(/\.damaged-.*/, ''))} could not be parsed and was kept as ${basename(path)}`)
  }
  if (checkpoint) {
    index.loadRoster(checkpoint.agents, checkpoint.groups, checkpoint.through)
    if (kept.length + newer.length > 0) context.warn(`The roster was restored from ${source} and the journal`)
  } else if (kept.length + newer.length > 0) {
    const next = 'check it with: skein agents list'
    context.warn(
      `WARNING: no roster file could be read. The roster contains only what is still in the journal; ${next}`,
    )
  }
}

export const newerRoster = (name: string): string =>
  `${name} was written by a newer Skein and is unchanged; changes to the roster are kept in the journal. Update Skein`

function replayJournal(index: LocalIndex, { journal, context }: IndexSources): void {
  const segments = journal.segments()
  const sizes = new Map(
    segments.map((segment) => [segment, statSync(journal.path(segment), { throwIfNoEntry: false })?.size ?? 0]),
  )
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  let { position, id } = index.cursor()
  const batches = function* (): Generator<readonly Event[]> {
    let before = 0
    for (const batch of journal.read()) {
      if (batch.position.segment !== position.segment) before += sizes.get(position.segment) ?? 0
      position = batch.position
      id = batch.events.at(-1)?.id ?? id
      context.progress({ what: 'reading the journal', done: before + position.offset, total, unit: 'bytes' })
      yield batch.events
    }
  }
  index.foldAll(batches())
  const active = segments.at(-1) ?? 0
  index.setCursor({ position: position.segment < active ? { segment: active, offset: 0 } : position, id })
}
