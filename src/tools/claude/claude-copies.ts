import { closeSync } from 'node:fs'
import { statOf } from '../../disk/index.js'
import { type ForkOrigin, msOf } from '../../model/index.js'
import { textAt } from '../json-value.js'
import { noCounters } from '../log/counters.js'
import { readJsonl } from '../log/jsonl-log.js'
import { LineReader } from '../log/line-reader.js'
import type { LogRef } from '../log/log-tool.js'
import { momentAt } from '../log/moment.js'
import { isReadableLog, openLog } from '../log/open-log.js'
import { RecordReader } from '../log/record-reader.js'
import { ClaudeTranslator } from './claude-translator.js'
import { claudeTrim } from './claude-trim.js'

/** One entry is in both by accident of nothing, but says too little about when the copy was made. */
const LEAST_SHARED = 2

/** How far two logs say the same. */
interface Shared {
  entries: number
  /** In the first log: where what is its own begins. */
  offset: number
  /** When the last entry that both have was written. */
  lastMs: number
}

/**
 * Where a session was forked from that `--fork-session` made: it copies the lines, under a new session's id, and says nowhere where
 * they came from. Two logs with the same entries are copies; which of them is the copy is told by when the files were made. The original
 * was there before the last entry they share was written, the copy was not. Where a file system does not say, or both files are
 * copies of copies, nothing is concluded.
 */
export function originAmong(
  log: LogRef,
  others: readonly LogRef[],
  bornMs: (path: string) => number | undefined = birthOf,
): ForkOrigin | undefined {
  const born = bornMs(log.path)
  if (born === undefined) return undefined
  let best: { shared: Shared; session: ForkOrigin['session'] } | undefined
  for (const other of others) {
    const otherBorn = bornMs(other.path)
    if (otherBorn === undefined || otherBorn >= born || other.session === undefined || !isReadableLog(other.path))
      continue
    const shared = sharedStart(log, other)
    if (shared.entries < LEAST_SHARED || otherBorn >= shared.lastMs || born < shared.lastMs) continue
    if (!best || shared.entries > best.shared.entries) best = { shared, session: other.session }
  }
  if (!best) return undefined
  const turn = turnsBefore(log, best.shared.offset)
  return { session: best.session, ...(turn > 0 ? { turn } : {}) }
}

function birthOf(path: string): number | undefined {
  const ms = statOf(path)?.birthtimeMs
  return ms ? ms : undefined
}

function sharedStart(one: LogRef, other: LogRef): Shared {
  using mine = new Entries(one.path)
  using theirs = new Entries(other.path)
  const shared: Shared = { entries: 0, offset: 0, lastMs: Number.NEGATIVE_INFINITY }
  while (mine.next() && theirs.next() && mine.id === theirs.id) {
    shared.entries += 1
    shared.offset = mine.end
    if (mine.ms !== undefined) shared.lastMs = Math.max(shared.lastMs, mine.ms)
  }
  return shared
}

function turnsBefore(log: LogRef, offset: number): number {
  let turns = 0
  for (const fact of readJsonl(log, { limitBytes: offset }, (setup) => new ClaudeTranslator(setup), claudeTrim)) {
    if (fact.kind === 'turn' && fact.agent === undefined) turns = Math.max(turns, fact.turn)
  }
  return turns
}

/** The lines of a log that have an id, one at a time. */
class Entries implements Disposable {
  id: string | undefined
  ms: number | undefined
  end = 0
  readonly #file: number
  readonly #lines: LineReader
  readonly #records: RecordReader

  constructor(path: string) {
    this.#file = openLog(path)
    this.#lines = new LineReader(this.#file, 0)
    this.#records = new RecordReader(this.#lines, noCounters(), claudeTrim)
  }

  next(): boolean {
    for (let record = this.#records.next(); record; record = this.#records.next()) {
      this.id = textAt(record, 'uuid')
      if (this.id === undefined) continue
      const at = momentAt(record, 'timestamp')
      this.ms = at && msOf(at)
      this.end = this.#records.offset
      return true
    }
    return false
  }

  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]()
    closeSync(this.#file)
  }
}
