// The cold answer as a program of its own: what `skein cost --no-index` does, without the command line around it.
//   node bench/cold-cost.mjs <root with projects/> [by] [zone]
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ClaudeUsage, Ledger, PriceBook, reportCalls, scanUsage } from '../dist/ingest.js'

const [root = '.', by = 'day', zone = 'UTC'] = process.argv.slice(2)

function* logs(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* logs(path)
    else if (entry.name.endsWith('.jsonl')) yield { tool: 'claude', path }
  }
}
const ledger = new Ledger()
const scan = scanUsage(logs(join(root, 'projects')), { claude: new ClaudeUsage() }, (telling) => ledger.tell(telling))
const report = reportCalls(ledger.calls(), new PriceBook(), { by, zone })
process.stdout.write(`${JSON.stringify({ scan, report })}\n`)
