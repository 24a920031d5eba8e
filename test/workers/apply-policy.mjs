// Applies the policy of a home to what is stored there, or ingests; says so when it begins.
//   node apply-policy.mjs <skein home, which is HOME to the tools as well> apply|ingest
const [home, verb] = process.argv.slice(2)
process.env.HOME = home
const { openHome } = await import('../../dist/library.js')
const skein = await openHome({ home, actor: 'apply' })
process.stdout.write('start\n')
if (verb === 'apply') await skein.privacy.apply()
else await skein.history.ingest()
await skein[Symbol.asyncDispose]()
