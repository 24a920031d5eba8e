import type { Policy } from '../privacy/index.js'
import { LOG_TOOLS, type LogRef } from '../tools/index.js'
import { FactForgetter, type Oblivion } from './forget-facts.js'
import { type HistoryStore, type LogReadingDone, partOf, resumeOf, type StoredLog } from './history-store.js'
import { LogRows } from './log-rows.js'
import { LogText } from './log-text.js'
import { placeOf, type StoredText, type TextStore } from './text-store.js'

/** A batch is stored in one transaction: large enough to be quick, small enough to lose little when the process is killed. */
const BATCH = { logs: 1_000, rows: 60_000, characters: 4_000_000 }

export interface HistoryReading {
  /** Logs looked at, and those of them that had changed and were read. */
  logs: number
  read: number
  bytes: number
  turns: number
  tool_calls: number
  unreadable: { path: string; reason: string }[]
}

/** Where the words go, and what may be kept of those of a session that works in a directory. */
export interface TextPlace {
  store: TextStore
  policyFor(cwd: string | undefined): Promise<Policy>
  /** Names this ingest in what is counted. */
  run: string
  /** What was purged and must not come back. */
  oblivion: Oblivion | undefined
}

interface LogWords {
  log: LogRef
  from: StoredText | undefined
  text: LogText
}

/**
 * Brings turns, tool calls and text up to date with the logs: unchanged ones are passed over, grown ones are read from where they
 * were left. Both stores keep their place, so that each can be lost by itself, and a process can be killed between the two; where
 * the places differ, the text is read again from the log's beginning.
 */
export async function readHistory(
  store: HistoryStore,
  text: TextPlace,
  logs: Iterable<LogRef>,
  /** Told after each log that was read. */
  onLog: (reading: Readonly<HistoryReading>) => void,
): Promise<HistoryReading> {
  const report: HistoryReading = { logs: 0, read: 0, bytes: 0, turns: 0, tool_calls: 0, unreadable: [] }
  let batch: LogReadingDone[] = []
  let words: LogWords[] = []
  let size = { rows: 0, characters: 0 }
  const flush = async (): Promise<void> => {
    if (batch.length > 0) store.record(batch, text.oblivion?.generation)
    if (words.length > 0) await recordWords(text, words)
    batch = []
    words = []
    size = { rows: 0, characters: 0 }
  }
  for (const log of logs) {
    report.logs += 1
    const from = store.log(log.path, partOf(log))
    const textFrom = text.store.log(log.path, partOf(log))
    const needsRows = from?.stamp !== log.stamp
    const needsText = textFrom?.stamp !== log.stamp
    if (!needsRows && !needsText) continue
    try {
      const rows = needsRows ? new LogRows(log.tool, from && store.knownRows(from)) : undefined
      const told = needsText ? new LogText() : undefined
      const isTogether = rows && told && placeOf(from?.resume) === (textFrom?.place ?? null)
      if (rows) readLog(log, from, isTogether ? [rows, told] : [rows], text.oblivion)
      if (told && !isTogether) {
        told.isRestarted = true
        readLog(log, undefined, [told], text.oblivion)
      }
      const owner = log.session ?? (rows ?? told)?.news.spawner?.session ?? (rows ?? told)?.news.id
      if (owner !== undefined && text.oblivion?.isSessionGone(owner)) continue
      if (told) {
        words.push({ log, from: textFrom, text: told })
        size.characters += told.length
      }
      if (rows) {
        batch.push({ log, from, rows })
        size.rows += rows.turns.size + rows.calls.size
        report.bytes += Math.max(0, (rows.checkpoint?.resume.offset ?? 0) - (resumeOf(from)?.offset ?? 0))
        report.turns += rows.turns.size
        report.tool_calls += rows.calls.size
      }
      report.read += 1
    } catch (error) {
      // Logs come and go while we look: one that is gone or forbidden must not hide the others.
      const reason = (error as NodeJS.ErrnoException).code
      if (reason === undefined) throw error
      report.unreadable.push({ path: log.path, reason })
    }
    onLog(report)
    if (words.length >= BATCH.logs || size.rows >= BATCH.rows || size.characters >= BATCH.characters) await flush()
  }
  await flush()
  return report
}

function readLog(
  log: LogRef,
  from: Pick<StoredLog, 'resume'> | undefined,
  readers: readonly Pick<LogText, 'add'>[],
  oblivion: Oblivion | undefined,
): void {
  const tool = LOG_TOOLS.find((one) => one.name === log.tool)
  if (!tool) throw new Error(`no reader for the logs of ${log.tool}`)
  const resume = resumeOf(from)
  const forgetter = new FactForgetter(oblivion?.forgetter.isEmpty ? undefined : oblivion?.forgetter)
  for (const fact of tool.read(log, resume ? { from: resume } : {})) {
    const storable = forgetter.storable(fact)
    for (const reader of readers) reader.add(storable)
  }
}

async function recordWords({ store, policyFor, run, oblivion }: TextPlace, words: readonly LogWords[]): Promise<void> {
  const readings = []
  for (const one of words) {
    const policy = await policyFor(one.text.news.cwd ?? one.from?.cwd ?? undefined)
    readings.push({ ...one, policy })
  }
  store.record(readings, run, oblivion?.generation)
}
