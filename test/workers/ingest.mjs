// Ingests the logs under a home until nothing is new, again and again; says so after each round.
//   node ingest.mjs <skein home> <directory that is HOME to the tools> <rounds>
const [home, tools, rounds] = process.argv.slice(2)
process.env.HOME = tools
const { openHome } = await import('../../dist/library.js')
const skein = await openHome({ home, actor: 'ingest' })
for (let round = 0; round < Number(rounds); round += 1) {
  process.stdout.write('start\n')
  const report = await skein.history.ingest()
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
await skein[Symbol.asyncDispose]()
