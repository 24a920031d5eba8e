// Changes and appends until it is killed; prints the number of each round only once both are acknowledged.
import { writeSync } from 'node:fs'
import { ConversationStore } from '../../dist/conversations.js'

const [directory, backend] = process.argv.slice(2)
const store = new ConversationStore({ directory, backend })
const main = store.open('main')
const key = 'agent:main:discord:dm:u1'
await main.receive(key)
for (let round = 1; ; round++) {
  await main.patch(key, { inputTokens: round })
  await main.append(key, { role: 'user', content: `${round} ${'x'.repeat(3_000)}` })
  writeSync(1, `${round}\n`)
}
