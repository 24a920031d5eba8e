import { LOG_TOOLS, type LogRef } from '../tools/index.js'
import { type HistoryStore, type LogReadingDone, partOf, resumeOf } from './history-store.js'
import { LogRows } from './log-rows.js'

/** A batch is stored in one transaction: large enough to be quick, small enough to lose little when the process is killed. */
const BATCH = { logs: 1_000, rows: 60_000 }

export interface HistoryReading {
  /** Logs looked at, and those of them that had changed and were read. */
  logs: number
  read: number
  bytes: number
  turns: number
  tool_calls: number
  unreadable: { path: string; reason: string }[]
}

export interface ReadHistoryOptions {
  signal?: AbortSignal | undefined
  /** Told after each log that was read. */
  onLog?: ((reading: Readonly<HistoryReading>) => void) | undefined
}

/** Brings turns and tool calls up to date with the logs: unchanged ones are passed over, grown ones are read from where they were left. */
export function readHistory(
  store: HistoryStore,
  logs: Iterable<LogRef>,
  options: ReadHistoryOptions = {},
): HistoryReading {
  const report: HistoryReading = { logs: 0, read: 0, bytes: 0, turns: 0, tool_calls: 0, unreadable: [] }
  let batch: LogReadingDone[] = []
  let rows = 0
  const flush = (): void => {
    if (batch.length > 0) store.record(batch)
    batch = []
    rows = 0
  }
  for (const log of logs) {
    options.signal?.throwIfAborted()
    report.logs += 1
    const from = store.log(log.path, partOf(log))
    if (from?.stamp === log.stamp) continue
    try {
      const done = { log, from, rows: readLog(store, log, from) }
      batch.push(done)
      rows += done.rows.turns.size + done.rows.calls.size
      report.read += 1
      report.bytes += Math.max(0, (done.rows.checkpoint?.resume.offset ?? 0) - (resumeOf(from)?.offset ?? 0))
      report.turns += done.rows.turns.size
      report.tool_calls += done.rows.calls.size
    } catch (error) {
      // Logs come and go while we look: one that is gone or forbidden must not hide the others.
      const reason = (error as NodeJS.ErrnoException).code
      if (reason === undefined) throw error
      report.unreadable.push({ path: log.path, reason })
    }
    options.onLog?.(report)
    if (batch.length >= BATCH.logs || rows >= BATCH.rows) flush()
  }
  flush()
  return report
}

function readLog(store: HistoryStore, log: LogRef, from: LogReadingDone['from']): LogRows {
  const tool = LOG_TOOLS.find((one) => one.name === log.tool)
  if (!tool) throw new Error(`no reader for the logs of ${log.tool}`)
  const rows = new LogRows(log.tool, from && store.knownRows(from))
  const resume = resumeOf(from)
  for (const fact of tool.read(log, resume ? { from: resume } : {})) rows.add(fact)
  return rows
}
