// Hooks each unit for one agent and says which it got. argv: home, address, ids
import { openHome } from '../../dist/library.js'

const [home, address, ...ids] = process.argv.slice(2)
const skein = await openHome({ home, actor: address })
const agent = await skein.roster.agent(address)
for (const id of ids) {
  try {
    await skein.work.hook(id, agent)
    console.log(`got ${id}`)
  } catch (error) {
    console.log(`refused ${error.code} ${id}`)
  }
}
await skein[Symbol.asyncDispose]()
