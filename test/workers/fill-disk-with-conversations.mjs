// Runs on a disk that is too small: writes until it is full, then checks that nothing acknowledged is missing, makes room and goes on.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConversationStore } from '../../dist/conversations.js'

const [directory, backend] = process.argv.slice(2)
const ballast = join(directory, 'ballast')
writeFileSync(ballast, Buffer.alloc(600 * 1024))
const store = new ConversationStore({ directory: join(directory, 'store'), backend })
const main = store.open('main')
const key = (n) => `agent:main:discord:dm:u${n}`
let written = 0
let failure
while (!failure && written < 10_000) {
  try {
    await main.patch(key(written), { label: 'x'.repeat(2_000) }, { onMissing: 'create' })
    written += 1
  } catch (error) {
    failure = { code: error.code, next: error.next }
  }
}
let appended = 0
let appendFailure
while (!appendFailure && appended < 10_000) {
  try {
    await main.append(key(0), { role: 'user', content: 'y'.repeat(3_000) })
    appended += 1
  } catch (error) {
    appendFailure = { code: error.code }
  }
}
const kept = (await main.list()).length
const transcript = await main.transcript(key(0))
rmSync(ballast)
await main.patch(key(written), { label: 'after' }, { onMissing: 'create' })
await main.append(key(0), { role: 'user', content: 'after' })
const after = await main.transcript(key(0))
const leftovers = readdirSync(directory, { recursive: true }).filter((name) => /\.tmp-|\.lock$/.test(String(name)))
console.log(
  JSON.stringify({
    failure,
    appendFailure,
    written,
    kept,
    appended,
    said: transcript?.entries.length ?? 0,
    torn: transcript?.tornTail ?? null,
    saidAfter: after.entries.length,
    keptAfter: (await main.list()).length,
    leftovers,
  }),
)
store[Symbol.dispose]()
