// Purges a secret from a home, or watches its logs until it is told to stop; says so when it begins.
//   node purge.mjs <skein home, which is HOME to the tools as well> purge <secret>
//   node purge.mjs <skein home> watch
const [home, verb, secret] = process.argv.slice(2)
process.env.HOME = home
const { openHome } = await import('../../dist/library.js')
const skein = await openHome({ home, actor: 'purge', onWarning: () => {} })
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
if (verb === 'purge') {
  process.stdout.write('start\n')
  await skein.privacy.purge({ secret })
} else {
  const watching = skein.history.watch({ signal: stop.signal, onReport: () => process.stdout.write('read\n') })
  await watching.catch((error) => {
    if (error.name !== 'AbortError') throw error
  })
}
await skein[Symbol.asyncDispose]()
