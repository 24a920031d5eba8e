// Fills a store with one conversation of every kind and exports it in the layout of OpenClaw.
import { ConversationStore, exportOpenClaw } from '../../dist/conversations.js'

const [directory, target, backend] = process.argv.slice(2)
const store = new ConversationStore({ directory, backend })
const main = store.open('main')
const text = (value) => [{ type: 'text', text: value }]
const usage = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}
const reply = (value) => ({
  role: 'assistant',
  content: text(value),
  api: 'anthropic-messages',
  provider: 'anthropic',
  model: 'm',
  usage,
  stopReason: 'stop',
})

const dm = 'agent:main:discord:dm:user123'
await main.receive(dm, { text: 'hi', from: 'discord:user123', to: 'bot', accountId: 'default' })
await main.append(dm, { role: 'user', content: text('hi') })
await main.append(dm, reply('hello'))
await main.mirror(dm, { mediaUrls: ['https://example.com/image.png'] })
await main.bind(dm, '6f6c2f6e-6f0a-4f4b-9d55-0d5f2a0f0b11', { cwd: '/project', mcp: 'none' })
const group = 'agent:main:discord:group:123'
await main.receive(group, { text: 'hi all', group: { subject: 'Dev team' }, threadId: 77 })
await main.append(group, { role: 'user', content: text('hi all') })
const thread = await main.thread(group, 77)
await main.append(thread.key, { role: 'user', content: text('in the thread') })
await main.spawn(dm, { name: 'worker1', task: 'task123' })
await main.receive('agent:main:cron:nightly', {})
await main.receive('agent:main:hook:h1', {})
await main.receive('agent:main:main', {})
await store.open('codex').receive('agent:codex:slack:channel:general', {})
console.log(JSON.stringify(await exportOpenClaw(store, target)))
store[Symbol.dispose]()
