// One process of a gateway that answers one message with the real Agent SDK and ends. Prints what happened as JSON.
import { ConversationStore, contextOf, runTurn, textOf } from '../../dist/conversations.js'

const { sdk: sdkPath, directory, key, prompt, options, policy, entry } = JSON.parse(process.argv[2])
const sdk = await import(sdkPath)
const store = new ConversationStore({ directory })
const conversations = store.open(key.split(':')[1])
const delivered = []
const print = async (document) => {
  const transcript = await conversations.transcript(key)
  const { summary, entries } = transcript ? contextOf(transcript) : { entries: [] }
  const messages = (transcript?.entries ?? []).flatMap(({ message }) => (message ? [message] : []))
  const kept = {
    entry: (await conversations.get(key))?.entry,
    roles: messages.map(({ role }) => role),
    stopReasons: messages.map(({ stopReason }) => stopReason),
    compactions: transcript?.entries.filter(({ type }) => type === 'compaction') ?? [],
    context: { summary, said: entries.map(({ message }) => message && textOf(message)) },
    delivered,
  }
  console.log(JSON.stringify({ ...document, ...kept }))
}
try {
  if (entry) await conversations.patch(key, entry, { onMissing: 'create' })
  const deliver = async ({ text }) => void delivered.push(text)
  const { row: _, ...result } = await runTurn({
    conversations,
    key,
    prompt,
    options,
    sdk,
    deliver,
    ...(policy ? { policy } : {}),
  })
  await print(result)
} catch (error) {
  await print({ kind: 'error', code: error.code, message: error.message })
} finally {
  store[Symbol.dispose]()
}
