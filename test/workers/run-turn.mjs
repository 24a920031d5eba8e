// One process of a gateway that answers one message with the real Agent SDK and ends. Prints what happened as JSON.
import { ConversationStore, runTurn } from '../../dist/conversations.js'

const { sdk: sdkPath, directory, key, prompt, options } = JSON.parse(process.argv[2])
const sdk = await import(sdkPath)
const store = new ConversationStore({ directory })
try {
  const conversations = store.open(key.split(':')[1])
  const { row, ...result } = await runTurn({ conversations, key, prompt, options, sdk })
  const transcript = await conversations.transcript(key)
  console.log(
    JSON.stringify({ ...result, entry: row.entry, roles: transcript?.entries.map((entry) => entry.message?.role) }),
  )
} catch (error) {
  console.log(JSON.stringify({ kind: 'error', code: error.code, message: error.message }))
} finally {
  store[Symbol.dispose]()
}
