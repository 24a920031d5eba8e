import type { UsageReader, UsageRecord, UsageSource } from '../../tools/index.js'
import type { LedgerStore, LogNews } from './ledger-store.js'
import { logKey } from './ledger-store.js'
import { collect } from './usage-record.js'

/** A batch is stored in one transaction: large enough to be quick, small enough to lose little when the process is killed. */
const BATCH = { logs: 500, tellings: 10_000 }

export interface RefreshReport {
  /** Logs looked at, and those of them that had changed and were read. */
  logs: number
  read: number
  bytes: number
  unreadable: { path: string; reason: string }[]
}

export interface RefreshOptions {
  signal?: AbortSignal
  /** Told after each log. */
  onLog?: (report: Readonly<RefreshReport>) => void
}

/** Brings the ledger up to date with the logs: unchanged ones are passed over, grown ones are read from where they were left. */
export function refreshLedger(
  store: LedgerStore,
  sources: Iterable<UsageSource>,
  readers: Readonly<Record<string, UsageReader>>,
  options: RefreshOptions = {},
): RefreshReport {
  const report: RefreshReport = { logs: 0, read: 0, bytes: 0, unreadable: [] }
  const stamps = store.stamps()
  let batch: LogNews[] = []
  let tellings = 0
  const flush = (): void => {
    if (batch.length > 0) store.record(batch)
    batch = []
    tellings = 0
  }
  for (const source of sources) {
    options.signal?.throwIfAborted()
    report.logs += 1
    if (stamps.get(logKey(source.path, source.session)) === source.stamp) continue
    const reader = readers[source.tool]
    if (!reader) {
      report.unreadable.push({ path: source.path, reason: `no reader for the logs of ${source.tool}` })
      continue
    }
    try {
      const state = store.stateOf(source.path, source.session)
      const found = new Map<string, UsageRecord>()
      const reading = reader.read(source, (telling) => collect(found, telling), { carry: state?.carry })
      const before = reading.resumed && state ? state : { damaged_lines: 0, oversized_lines: 0 }
      batch.push({
        ...source,
        carry: reading.carry,
        damaged_lines: before.damaged_lines + reading.damaged_lines,
        oversized_lines: before.oversized_lines + reading.oversized_lines,
        unread_counts:
          (reading.resumed ? store.unreadCountsAt(source.path, source.session) : 0) + reading.unread_counts,
        tellings: found.values(),
      })
      tellings += found.size
      report.read += 1
      report.bytes += reading.bytes
    } catch (error) {
      // Logs come and go while we look: one that is gone or forbidden must not hide the others.
      const reason = (error as NodeJS.ErrnoException).code
      if (reason === undefined) throw error
      report.unreadable.push({ path: source.path, reason })
    }
    options.onLog?.(report)
    if (batch.length >= BATCH.logs || tellings >= BATCH.tellings) flush()
  }
  flush()
  return report
}
