// Opens a home, does one thing, and prints as JSON what came of it: the state that can be seen, warnings, the error.
// argv: home, what to do: look | write | fill
import { openHome } from '../../dist/library.js'

const [home, what] = [process.argv[2], process.argv[3]]
const told = { warnings: [], error: undefined, sessions: [], agents: [], written: [] }
const failed = (error) => ({
  code: error.code ?? 'bug',
  message: error.message,
  next: error.next,
  stack: error.code ? undefined : error.stack,
})
let skein
try {
  skein = await openHome({ home, actor: 'probe', onWarning: (line) => told.warnings.push(line) })
  if (what === 'write') {
    await skein.roster.add({ address: 'new/agent', tool: 'claude' })
    await skein.sessions.start({ id: 'new-session' })
  }
  if (what === 'fill') {
    for (let n = 0; n < 100_000; n += 1) {
      const { id } = await skein.sessions.start({ id: `fill-${n}`, title: 'x'.repeat(2_000) })
      told.written.push(id)
    }
  }
} catch (error) {
  told.error = failed(error)
}
try {
  told.sessions = (await skein.sessions.query({ limit: 10_000 })).sessions.map((session) => session.id).sort()
  told.agents = (await skein.roster.agents()).map((agent) => agent.address)
} catch (error) {
  told.error ??= failed(error)
}
try {
  await skein?.[Symbol.asyncDispose]()
} catch (error) {
  told.error ??= failed(error)
}
console.log(JSON.stringify(told))
