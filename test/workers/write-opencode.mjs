// Has opencode's database open as opencode itself does, in a process of its own, and runs what it is told, a line of SQL at a time.
//   node write-opencode.mjs <opencode.db>

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const builtIn = process.getBuiltinModule?.('node:sqlite')
const { DatabaseSync } = builtIn ?? createRequire(import.meta.url)('@photostructure/sqlite')
const database = new DatabaseSync(process.argv[2])
database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; select count(*) from session')
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  database.exec(line)
  process.stdout.write('done\n')
}
database.close()
