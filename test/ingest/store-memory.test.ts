import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TextStore } from '../../src/ingest/text/text-store.js'
import { HistoryStore } from '../../src/ingest/turns/history-store.js'
import { scratch } from '../home/scratch.js'

/** As SQLite counts it: negative, in units of 1,024 bytes. */
const cacheOf = (db: { get(sql: string): unknown }): number =>
  -(db.get('pragma cache_size') as { cache_size: number }).cache_size / 1024

it('an ingest keeps at most 32 MB of its databases in memory, however long a log is', () => {
  const root = scratch()
  using text = TextStore.open(join(root, 'text.db'))
  using history = HistoryStore.open(join(root, 'history.db'))
  expect(cacheOf(text.db) + cacheOf(history.ledger)).toBeLessThanOrEqual(32)
})
