// Speaks to the daemon as the process that reads logs does; one of its logs ends it, or never ends.
//   node fragile-intake.mjs die|hang <its logs ...>
const [how, ...logs] = process.argv.slice(2)
process.once('message', ({ skip }) => {
  for (const log of logs.filter((one) => !skip.includes(one))) {
    process.send({ reading: log })
    if (log.includes('good')) continue
    if (how === 'die') process.abort()
    else setInterval(() => {}, 1_000)
    return
  }
  process.send({ reading: undefined })
})
process.once('disconnect', () => process.exit(0))
