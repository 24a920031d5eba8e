import type { UsageReader, UsageRecord, UsageSource } from '../../tools/index.js'

export interface ScanReport {
  files: number
  bytes: number
  damaged_lines: number
  oversized_lines: number
  /** Records with a token count that is no number. */
  unread_counts: number
  /** Logs that could not be read at all, with the system's reason. */
  unreadable: { path: string; reason: string }[]
}

/** Reads every log from its beginning and tells every usage in it: the cold answer, which needs no index. */
export function scanUsage(
  sources: Iterable<UsageSource>,
  readers: Readonly<Record<string, UsageReader>>,
  tell: (telling: UsageRecord) => void,
): ScanReport {
  const report: ScanReport = {
    files: 0,
    bytes: 0,
    damaged_lines: 0,
    oversized_lines: 0,
    unread_counts: 0,
    unreadable: [],
  }
  for (const source of sources) {
    const reader = readers[source.tool]
    if (!reader) {
      report.unreadable.push({ path: source.path, reason: `no reader for the logs of ${source.tool}` })
      continue
    }
    try {
      const reading = reader.read(source, tell)
      report.files += 1
      report.bytes += reading.bytes
      report.damaged_lines += reading.damaged_lines
      report.oversized_lines += reading.oversized_lines
      report.unread_counts += reading.unread_counts
    } catch (error) {
      // Logs come and go while we look: one that is gone or forbidden must not hide the others.
      const reason = (error as NodeJS.ErrnoException).code
      if (reason === undefined) throw error
      report.unreadable.push({ path: source.path, reason })
    }
  }
  return report
}
