// A command line is typed, and called by prompts and scripts: what people feel is the time to the answer. Half of it is Node's
// own, so the measure is the ratio to `node -e 0`, taken turn by turn in the same minute. 100,000 sessions are several years
// of a team.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHome } from '../dist/library.js'
import { inScratch, median, report } from './measure.mjs'
import { writeJournal } from './world.mjs'

const ROUNDS = 60
const SKEIN = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')
const BASELINE = 'node -e 0'
const COMMANDS = {
  [BASELINE]: ['-e', '0'],
  'skein sessions list': [SKEIN, 'sessions', 'list'],
  'skein sessions list --rig rig3 --json': [SKEIN, 'sessions', 'list', '--rig', 'rig3', '--json'],
  'skein --help': [SKEIN, '--help'],
}

await inScratch(async (root) => {
  writeJournal(root, { sessions: 100_000 })
  const home = await openHome({ home: root, onWarning: () => {} })
  await home.index.rebuild()
  await home[Symbol.asyncDispose]()

  const env = { ...process.env, HOME: root, SKEIN_HOME: root }
  const times = Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, args] of Object.entries(COMMANDS)) {
      const from = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { env })
      if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
      if (round >= 5) times[name].push(performance.now() - from)
    }
  }
  const base = median(times[BASELINE])
  report(
    'start',
    Object.entries(times).map(([name, taken]) => {
      const ratio = median(taken) / base
      const limit = name.startsWith('skein sessions list') ? 2.5 : undefined
      return [`${name}: x ${BASELINE}`, ratio, limit, `(${median(taken).toFixed(1)} ms)`]
    }),
  )
})
