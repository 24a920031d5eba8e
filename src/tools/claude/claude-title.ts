import { closeSync } from 'node:fs'
import { textAt } from '../json-value.js'
import { noCounters } from '../log/counters.js'
import { LineReader } from '../log/line-reader.js'
import type { LogRef } from '../log/log-tool.js'
import { openLog } from '../log/open-log.js'
import { RecordReader } from '../log/record-reader.js'

const TAIL_BYTES = 256 * 1024

/** The newest titles in the last lines of a log, by a person and by the model: the program repeats them every few turns. */
export function titlesAtEnd(log: LogRef): { chosen?: string | undefined; found?: string | undefined } {
  const file = openLog(log.path)
  try {
    const records = new RecordReader(new LineReader(file, Math.max(0, log.size - TAIL_BYTES)), noCounters())
    let chosen: string | undefined
    let found: string | undefined
    for (let record = records.next(); record; record = records.next()) {
      if (record.type === 'custom-title') chosen = textAt(record, 'customTitle') ?? chosen
      if (record.type === 'ai-title') found = textAt(record, 'aiTitle') ?? found
    }
    return { chosen, found }
  } finally {
    closeSync(file)
  }
}
