import { closeSync } from 'node:fs'
import { basename } from 'node:path'
import { offsetAfter, placeAt } from '../log/file-place.js'
import { openLog } from '../log/open-log.js'
import { recordsInTornLine } from '../log/torn-line.js'
import type { UsageReader, UsageReading, UsageRecord, UsageResume, UsageSource } from '../log/usage-reader.js'
import { hasUnreadCount, tellingOfClaudeRecord } from './claude-record.js'
import { ClaudeScan } from './claude-scan.js'

/** Claude Code's logs: JSON lines, scanned at the speed of reading; the few lines that the scan cannot decide are parsed. */
export class ClaudeUsageReader implements UsageReader {
  readonly #scan = new ClaudeScan()

  read({ path, session }: UsageSource, tell: (telling: UsageRecord) => void, resume?: UsageResume): UsageReading {
    let [damaged, unread] = [0, 0]
    const unsure = (bytes: Buffer, start: number, end: number): void => {
      const text = bytes.toString('utf8', start, end)
      let records: unknown[]
      try {
        records = [JSON.parse(text)]
      } catch {
        damaged += 1
        records = recordsInTornLine(text)
      }
      for (const record of records) {
        const telling = tellingOfClaudeRecord(asObject(record), basename(path, '.jsonl'))
        if (telling && hasUnreadCount(asObject(record))) unread += 1
        if (telling) tell(session === undefined ? telling : { ...telling, session })
      }
    }
    const file = openLog(path)
    try {
      const from = resume?.carry === undefined ? 0 : offsetAfter(file, resume.carry)
      const { end, bytes, oversized_lines } = this.#scan.read(file, from, { session, tell, unsure })
      const carry = resume && placeAt(file, end)
      return { carry, resumed: from > 0, bytes, damaged_lines: damaged, oversized_lines, unread_counts: unread }
    } finally {
      closeSync(file)
    }
  }
}

const asObject = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined
