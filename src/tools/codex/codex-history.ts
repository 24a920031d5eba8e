import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { statOf } from '../../disk/index.js'
import { isSessionId, type SessionId } from '../../model/index.js'
import { type JsonObject, numberAt, objectAt, textAt } from '../json-value.js'
import { type Counters, noCounters } from '../log/counters.js'
import { LineReader } from '../log/line-reader.js'
import { filesBelow } from '../log/log-files.js'
import type { LogRef, ReadOptions } from '../log/log-tool.js'
import { isReadableLog, openLog } from '../log/open-log.js'
import { RecordReader } from '../log/record-reader.js'

const MOST_ORIGINS = 32

/** Pieces of other sessions' logs that are this one's history, oldest first. */
export interface History {
  /** The session it was forked from, whether or not its log is still there. */
  origin?: SessionId
  segments: { session: SessionId; bytes: number; records: () => Iterable<JsonObject> }[]
}

/** A fork's file holds only what came after the fork; `history_base` names the file, and the byte, where the rest is. */
export function historyOf(log: LogRef, find: ReadOptions['find'], counters: Counters): History {
  const own = headerOf(log.path)
  const forkedFrom = textAt(own, 'forked_from_id') ?? textAt(objectAt(own, 'history_base'), 'thread_id')
  const segments: History['segments'] = []
  const seen = new Set([log.path])
  let base = objectAt(own, 'history_base')
  while (base && seen.size <= MOST_ORIGINS) {
    const session = textAt(base, 'thread_id')
    const path = isSessionId(session) ? (find?.(session)?.path ?? lookFor(log.root, session)) : undefined
    if (!isSessionId(session) || !path || seen.has(path) || !isReadableLog(path)) {
      counters.missing_origins += 1
      break
    }
    seen.add(path)
    const size = statOf(path)?.size ?? 0
    const wanted = numberAt(base, 'end_byte_offset') ?? size
    const bytes = Math.min(wanted, size)
    if (size < wanted) counters.missing_origins += 1
    const ordinal = numberAt(base, 'end_ordinal_exclusive')
    segments.unshift({ session, bytes, records: () => recordsUpTo(path, bytes, ordinal) })
    base = objectAt(headerOf(path), 'history_base')
  }
  return { ...(isSessionId(forkedFrom) ? { origin: forkedFrom } : {}), segments }
}

/** Whether some of a fork's history is in a log that is not there, or not all of it. */
export function lacksHistory(log: LogRef): boolean {
  if (!isReadableLog(log.path)) return true
  const counters = noCounters()
  historyOf(log, undefined, counters)
  return counters.missing_origins > 0
}

function headerOf(path: string): JsonObject | undefined {
  for (const record of recordsUpTo(path, undefined, undefined)) {
    return record.type === 'session_meta' ? objectAt(record, 'payload') : undefined
  }
  return undefined
}

function* recordsUpTo(path: string, bytes: number | undefined, ordinal: number | undefined): Generator<JsonObject> {
  const file = openLog(path)
  try {
    // What is wrong with these lines is counted where they are read as their own session's.
    const records = new RecordReader(new LineReader(file, 0, bytes), noCounters())
    for (let record = records.next(); record; record = records.next()) {
      if (ordinal !== undefined && (numberAt(record, 'ordinal') ?? 0) >= ordinal) return
      yield record
    }
  } finally {
    closeSync(file)
  }
}

function lookFor(root: string, session: SessionId): string | undefined {
  const wanted = (name: string): boolean => name.endsWith(`-${session}.jsonl`)
  return filesBelow(join(root, 'sessions'), wanted)[0] ?? filesBelow(root, wanted)[0]
}
