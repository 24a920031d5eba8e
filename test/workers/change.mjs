// Changes a home as fast as it can and says on standard output what was acknowledged, one line each.
// argv: home, name, number of changes (0: until killed)
import { writeSync } from 'node:fs'
import { openHome } from '../../dist/library.js'

const [home, name, count] = [process.argv[2], process.argv[3], Number(process.argv[4])]
const acknowledge = (line) => writeSync(1, `${line}\n`)
const skein = await openHome({ home, actor: name })
let session
for (let n = 0; count === 0 || n < count; n += 1) {
  const kind = n % 5
  if (kind === 0) {
    const agent = await skein.roster.add({ address: `fleet/${name}/a${n}`, tool: 'claude' })
    acknowledge(`agent ${agent.address}`)
  } else if (kind === 1) {
    session = await skein.sessions.start({
      agent: `fleet/${name}/a${n - 1}`,
      title: `round ${n}`,
      work_unit: `w-${name}`,
    })
    acknowledge(`session ${session.id}`)
  } else if (kind === 2) {
    await skein.sessions.update(session.id, { branch: `b-${n}` })
    acknowledge(`branch ${session.id} b-${n}`)
  } else if (kind === 3) {
    const event = await skein.events.append({
      type: 'mail',
      session: session.id,
      payload: { subject: `n ${n}`, to: name },
    })
    acknowledge(`event ${event.id}`)
  } else {
    const successor = await skein.sessions.handoff(session.id, { subject: 'next' })
    acknowledge(`handoff ${session.id} ${successor.id}`)
  }
}
await skein[Symbol.asyncDispose]()
