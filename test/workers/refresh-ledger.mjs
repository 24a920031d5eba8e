// Brings a ledger up to date with the logs under a directory, again and again; says so after every batch of logs.
//   node refresh-ledger.mjs <ledger file> <directory> <times>
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStore, PriceBook, refreshLedger, settleLedger, usageReaders } from '../../dist/ingest.js'

const [file, directory, times] = process.argv.slice(2)
const sources = () =>
  readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => {
      const path = join(directory, name)
      const { ino, size, mtimeMs } = statSync(path)
      return { tool: 'claude', path, stamp: `${ino} ${size} ${mtimeMs}` }
    })
const store = LedgerStore.open(file)
for (let i = 0; i < Number(times); i++) {
  // In pieces, so that a kill finds it between and inside transactions.
  const logs = sources()
  for (let at = 0; at < logs.length; at += 5) {
    refreshLedger(store, logs.slice(at, at + 5), usageReaders())
    process.stdout.write('.')
  }
  settleLedger(store, new PriceBook(), 'UTC')
}
store[Symbol.dispose]()
