// Adds one to a number in a file, many times, under the lock of the store beside it: a count that is short shows two holders.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withSessionStoreLock } from '../../dist/conversations.js'

const [directory, , times] = process.argv.slice(2)
const file = join(directory, 'count')
for (let n = 0; n < Number(times); n++) {
  await withSessionStoreLock(
    join(directory, 'sessions.json'),
    async () => {
      const count = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
      await new Promise((resolve) => setTimeout(resolve, 1))
      writeFileSync(file, String(count + 1))
    },
    { timeoutMs: 60_000 },
  )
}
