// A program of one's own that keeps a log under the id it is given: muse-program.mjs <directory>
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const session = process.env.MUSE_SESSION
const directory = join(process.argv[2], '2026', '01')
const log = (record) => appendFileSync(join(directory, `${session}.jsonl`), `${JSON.stringify(record)}\n`)

mkdirSync(directory, { recursive: true })
console.log('muse is ready')
createInterface({ input: process.stdin }).on('line', (line) => {
  const say = (role, content) => log({ ts: Date.now(), message: { role, content } })
  log({ session, cwd: process.cwd(), model: 'muse-1' })
  say('user', line)
  say('assistant', [{ type: 'text', text: `You said ${line}.` }])
  console.log('done')
})
