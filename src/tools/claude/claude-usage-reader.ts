import { closeSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { isSessionId } from '../../model/index.js'
import { objectAt } from '../json-value.js'
import { offsetAfter, placeAt } from '../log/file-place.js'
import { LineReader } from '../log/line-reader.js'
import { openLog } from '../log/open-log.js'
import { parseObject, recordsInTornLine } from '../log/torn-line.js'
import type { UsageReader, UsageReading, UsageRecord, UsageResume, UsageSource } from '../log/usage-reader.js'
import { hasUnreadCount, tellingOfClaudeRecord } from './claude-record.js'
import { ClaudeScan, type ScanVisitor } from './claude-scan.js'

/** Claude Code's logs: JSON lines, scanned at the speed of reading; the few lines that the scan cannot decide are parsed. */
export class ClaudeUsageReader implements UsageReader {
  readonly #scan = new ClaudeScan()

  read({ path, session }: UsageSource, heard: (telling: UsageRecord) => void, resume?: UsageResume): UsageReading {
    let [damaged, unread] = [0, 0]
    let origins: ReadonlyMap<string, string> | undefined
    let { place, requestedMs } = placeIn(resume?.carry)
    const tell = (telling: UsageRecord): void => {
      const origin = origins?.get(telling.call)
      if (origin !== undefined) heard({ ...telling, copied: { from: origin || undefined } })
      else {
        if (requestedMs !== undefined && telling.at_ms >= requestedMs) telling.made = true
        heard(telling)
      }
    }
    const unsure: ScanVisitor['unsure'] = (bytes, start, end) => {
      const text = bytes.toString('utf8', start, end)
      let records: unknown[]
      try {
        records = [JSON.parse(text)]
      } catch {
        damaged += 1
        records = recordsInTornLine(text)
      }
      for (const record of records) {
        requestedMs ??= requestIn(asObject(record))
        const telling = tellingOfClaudeRecord(asObject(record), basename(path, '.jsonl'))
        if (telling && hasUnreadCount(asObject(record))) unread += 1
        if (telling) tell(session === undefined ? telling : { ...telling, session })
      }
    }
    const file = openLog(path)
    try {
      const from = place === undefined ? 0 : offsetAfter(file, place)
      if (from === 0) requestedMs = undefined
      // What was copied is at the start.
      if (from === 0) origins = originsIn(file, basename(path, '.jsonl'))
      const visitor = { session, isRequested: requestedMs !== undefined, tell, unsure }
      const { end, bytes, oversized_lines } = this.#scan.read(file, from, visitor)
      const carry = resume && carryOf(placeAt(file, end), requestedMs)
      return { carry, resumed: from > 0, bytes, damaged_lines: damaged, oversized_lines, unread_counts: unread }
    } finally {
      closeSync(file)
    }
  }
}

/** In what a reading remembers, behind the place: when the log began its first request. */
const REQUESTED = ' requested '

const carryOf = (place: string, requestedMs: number | undefined): string =>
  requestedMs === undefined ? place : `${place}${REQUESTED}${requestedMs}`

function placeIn(carry: string | undefined): { place: string | undefined; requestedMs: number | undefined } {
  const [place, requested] = carry?.split(REQUESTED) ?? []
  return { place, requestedMs: requested === undefined ? undefined : Number(requested) }
}

/** When a request was made, of a line that tells it. The program writes such a line for each request, and copies none of them. */
function requestIn(record: object | undefined): number | undefined {
  if (!record || !('type' in record) || record.type !== 'api-request' || !('timestamp' in record)) return undefined
  const ms = Date.parse(String(record.timestamp))
  return Number.isNaN(ms) ? undefined : ms
}

/** So much of a log says whether it is a fork. */
const HEAD_BYTES = 128 * 1024
const head = Buffer.alloc(HEAD_BYTES)
const COPIED = '"forkedFrom":{'

/** In the log of a fork: the calls that were copied, and the session that each was copied from, if it is named. */
function originsIn(file: number, name: string): Map<string, string> | undefined {
  if (!head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0)).includes(COPIED)) return undefined
  const origins = new Map<string, string>()
  using lines = new LineReader(file, 0)
  while (lines.next()) {
    if (!lines.line?.includes(COPIED)) continue
    const record = parseObject(lines.line.toString('utf8'))
    const origin = objectAt(record, 'forkedFrom')
    const call = tellingOfClaudeRecord(record, name)?.call
    if (origin && call !== undefined) origins.set(call, isSessionId(origin.sessionId) ? origin.sessionId : '')
  }
  return origins
}

const asObject = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined
