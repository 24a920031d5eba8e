// The warm answer as a program of its own: what `skein cost` does with a ledger on disk, without the command line around it.
//   node bench/warm-cost.mjs <ledger file> <root with projects/> [report | refresh | both] [by] [zone]
import { LedgerStore, PriceBook, refreshLedger, reportLedger, settleLedger, usageReaders } from '../dist/ingest.js'
import { claudeLogs } from './claude-logs.mjs'

const [file, root, what = 'both', by = 'day', zone = 'UTC'] = process.argv.slice(2)
const store = LedgerStore.open(file)
const prices = new PriceBook()
let refresh
if (what !== 'report') {
  refresh = refreshLedger(store, claudeLogs(root, { stamped: true }), usageReaders())
  settleLedger(store, prices, zone)
}
const report = what === 'refresh' ? undefined : reportLedger(store, prices, { by, zone })
process.stdout.write(`${JSON.stringify({ refresh, report })}\n`)
