// Takes the lock of a store, says so, and keeps it: until it is killed, or for as long as told.
import { withSessionStoreLock } from '../../dist/conversations.js'

const [storePath, holdMs] = process.argv.slice(2)
await withSessionStoreLock(storePath, async () => {
  console.log('held')
  await new Promise((resolve) => setTimeout(resolve, Number(holdMs)))
})
