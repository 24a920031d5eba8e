// One of several processes that change one store: different keys, or one and the same by read, patch with revision, retry.
import { ConversationStore, RevisionConflict } from '../../dist/conversations.js'

const [directory, backend, mode, name, count] = process.argv.slice(2)
using(new ConversationStore({ directory, backend }), async (store) => {
  const main = store.open('main')
  let conflicts = 0
  for (let n = 0; n < Number(count); n++) {
    if (mode === 'different') {
      await main.patch(`agent:main:discord:dm:${name}-${n}`, { label: `${name}-${n}` }, { onMissing: 'create' })
      continue
    }
    for (;;) {
      const row = await main.get('agent:main:discord:dm:shared')
      try {
        await main.patch(row.key, { inputTokens: row.entry.inputTokens + 1 }, { revision: row.revision })
        break
      } catch (error) {
        if (!(error instanceof RevisionConflict) || typeof error.current !== 'string' || error.current === row.revision)
          throw error
        conflicts += 1
      }
    }
  }
  console.log(JSON.stringify({ conflicts }))
})

async function using(store, body) {
  try {
    await body(store)
  } finally {
    store[Symbol.dispose]()
  }
}
