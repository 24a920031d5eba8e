// `skein index rebuild` after a schema change is the longest wait Skein asks for: it must grow with the journal, not faster,
// and fit beside the agents in memory. 100,000 events are a busy month, 1,000,000 a busy year.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch, median, report } from './measure.mjs'
import { writeJournal } from './world.mjs'

const library = join(fileURLToPath(import.meta.url), '..', '..', 'dist', 'library.js')
const program = `
  import { openHome } from ${JSON.stringify(library)}
  const home = await openHome({ home: process.argv[1] })
  const from = performance.now()
  const counts = await home.index.rebuild()
  const ms = performance.now() - from
  await home[Symbol.asyncDispose]()
  console.log(JSON.stringify({ ms, ...counts, mb: process.resourceUsage().maxRSS / 1024 }))`

function rebuild(home) {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program, home], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout)
}

await inScratch(async (directory) => {
  const small = join(directory, 'small')
  const large = join(directory, 'large')
  const events = [writeJournal(small, { sessions: 26_700 }), writeJournal(large, { sessions: 267_000 })]
  // The first run makes the index, so that both kinds of run are the same: one that replaces it.
  const smallRuns = [1, 2, 3].map(() => rebuild(small))
  const largeRuns = [1, 2].map(() => rebuild(large))
  const [a, b] = [median(smallRuns.map((run) => run.ms)), median(largeRuns.map((run) => run.ms))]
  report('rebuild', [
    [`rebuild of ${events[0]} events, ms`, a],
    [`rebuild of ${events[1]} events, ms`, b],
    ['ratio of times, events ten times as many', (b / a) * ((events[0] * 10) / events[1]), 12],
    ['peak memory at the larger, MB', Math.max(...largeRuns.map((run) => run.mb)), 400],
  ])
})
