// Who wrote each line of a file of 5,000 lines after 1,000 turns that changed it. The reference in the same run is `git blame` of a file
// with the same versions, one commit each. Rounds alternate.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Snapshots } from '../dist/snapshots.js'
import { inScratch, median, report } from './measure.mjs'

const TURNS = Number(process.argv.find((arg) => arg.startsWith('--turns='))?.slice(8) ?? 1_000)
const LINES = 5_000
const ROUNDS = 7
const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}
const git = (cwd, ...args) =>
  execFileSync('git', args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 30 })

await inScratch(async (scratch) => {
  const root = join(scratch, 'project')
  mkdirSync(root)
  const file = join(root, 'file.txt')
  const lines = Array.from({ length: LINES }, (_, n) => `line ${n} as it was committed`)
  const write = () => writeFileSync(file, `${lines.join('\n')}\n`)
  write()
  git(root, 'init', '-q')
  git(root, 'config', 'gc.auto', '0')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'all')
  const program = { executable: 'git', searchPath: process.env.PATH }
  const snapshots = new Snapshots({ directory: join(scratch, 'stores'), program, now: Date.now })
  const take = (moment) => snapshots.capture({ directory: root, session: 'bench', moment })
  for (let turn = 0; turn < TURNS; turn += 1) {
    await take('prompt')
    for (let n = 0; n < 5; n += 1) lines[(turn * 7919 + n * 997) % LINES] = `line of turn ${turn}, ${n}`
    write()
    await take('stop')
    git(root, 'commit', '-qam', `turn ${turn}`)
  }
  git(root, 'repack', '-adq')
  await snapshots.collect({ onlyDue: false })
  const [theirs, ours] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now()
    git(root, 'blame', '--porcelain', 'file.txt')
    const between = performance.now()
    await snapshots.blame(file)
    theirs.push(between - from)
    ours.push(performance.now() - between)
  }
  report('blame', [
    ['git blame over the commits, ms', median(theirs)],
    ['blame over the turns, ms', median(ours)],
    ['blame, as a multiple of git blame', median(ours.map((time, n) => time / theirs[n])), 3],
  ])
})
