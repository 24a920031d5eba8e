// The cold answer as a program of its own: what `skein cost --no-index` does, without the command line around it.
//   node bench/cold-cost.mjs <root with projects/> [by] [zone]
import { ClaudeUsage, Ledger, PriceBook, reportCalls, scanUsage } from '../dist/ingest.js'
import { claudeLogs } from './claude-logs.mjs'

const [root = '.', by = 'day', zone = 'UTC'] = process.argv.slice(2)
const ledger = new Ledger()
const scan = scanUsage(claudeLogs(root), { claude: new ClaudeUsage() }, (telling) => ledger.tell(telling))
const report = reportCalls(ledger.calls(), new PriceBook(), { by, zone })
process.stdout.write(`${JSON.stringify({ scan, report })}\n`)
