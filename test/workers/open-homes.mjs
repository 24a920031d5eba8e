// Opens and closes a home over and over, and prints how many more files are open at its end.
//   node --min-semi-space-size=256 --max-semi-space-size=256 open-homes.mjs <home> <times>
import { readdirSync } from 'node:fs'
import { openHome } from '../../dist/library.js'

const [home, times] = [process.argv[2], Number(process.argv[3])]
const descriptors = () => readdirSync('/proc/self/fd').length

async function once() {
  const opened = await openHome({ home, actor: 'probe' })
  await opened.sessions.start({})
  await opened.sessions.query({})
  await opened[Symbol.asyncDispose]()
}

await once()
const before = descriptors()
for (let n = 0; n < times; n += 1) await once()
await new Promise((resolve) => setTimeout(resolve, 50)) // statements end in a turn of their own
console.log(descriptors() - before)
