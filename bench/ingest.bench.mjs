// The first minute: reading everything a user ever did, once; and after that, being called again and again with nothing new.
//   node scripts/bench.mjs ingest [--large] [--json] [--peer=<the ccusage binary>]
// 100 MB in 500 sessions is a few months of one person. --large adds 1 GB in 5,000, a year of a busy one.
// The reference is ccusage's scan of the same logs, which reads tokens only; ingest also stores turns, tool calls, sessions and their text.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, report } from './measure.mjs'
import { ccusage } from './peer.mjs'
import { timedRun } from './timed-run.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const SKEIN = join(dirname(here), 'bin', 'skein.js')
const scratch = mkdtempSync(join(tmpdir(), 'skein-bench-ingest-'))
const sizes = [{ mb: 100, sessions: 500, seed: 1, rounds: 5 }]
if (process.argv.includes('--large')) sizes.push({ mb: 1000, sessions: 5000, seed: 2, rounds: 3 })

try {
  const peer = ccusage()
  process.env.HOME = scratch
  const rows = sizes.flatMap((size) => measure(size, peer))
  report('ingest', [...rows, ...(await watchLatency())])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function measure({ mb, sessions, seed, rounds }, peer) {
  const root = join(scratch, `corpus-${mb}`)
  const settings = Object.entries({ mb, sessions, seed, out: root }).flatMap(([name, value]) => [
    `--${name}`,
    `${value}`,
  ])
  execFileSync(process.execPath, [join(here, 'gen-corpus.mjs'), ...settings], { stdio: 'ignore' })
  Object.assign(process.env, { CLAUDE_CONFIG_DIR: root, SKEIN_HOME: join(root, 'skein') })
  const home = join(root, 'skein')
  const ingest = (...flags) => timedRun([process.execPath, SKEIN, 'ingest', '--json', ...flags])
  const runs = Array.from({ length: rounds }, () => {
    rmSync(home, { recursive: true, force: true })
    const theirs = timedRun([peer, 'claude', 'daily', '--offline', '--json'])
    const wordless = ingest('--no-words')
    rmSync(home, { recursive: true, force: true })
    return { theirs, wordless, first: ingest(), second: ingest() }
  })
  rmSync(home, { recursive: true, force: true })
  const peak = peakMegabytes()
  rmSync(root, { recursive: true, force: true })
  const cpu = (which) => median(runs.map((run) => run[which].cpuMs))
  const each = (which) => runs.map((run) => (run[which].cpuMs / run.theirs.cpuMs).toFixed(2)).join(' ')
  return [
    [`${mb} MB: ccusage's scan, CPU ms`, cpu('theirs')],
    [`${mb} MB: ingest without words, CPU ms`, cpu('wordless')],
    [`${mb} MB: ratio`, cpu('wordless') / cpu('theirs'), 4, `(each run: ${each('wordless')})`],
    [`${mb} MB: ingest, CPU ms`, cpu('first')],
    [`${mb} MB: ratio with words`, cpu('first') / cpu('theirs'), 8, `(each run: ${each('first')})`],
    [`${mb} MB: peak memory of ingest, MB`, peak, 500],
    [
      `${mb} MB: ingest again with nothing new (${sessions} sessions), wall ms`,
      median(runs.map((run) => run.second.wallMs)),
      500,
    ],
  ]
}

function peakMegabytes() {
  const program = `process.on('exit', () => process.stderr.write('PEAK ' + process.resourceUsage().maxRSS)); process.argv.splice(1, 1); require(${JSON.stringify(SKEIN)})`
  const { stderr } = spawnSync(process.execPath, ['-e', program, 'skein', 'skein', 'ingest', '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  return Number(/PEAK (\d+)/.exec(stderr)?.[1]) / 1024
}

/** From the moment a line is appended to a 50 MB log until a query in another process can see it. */
async function watchLatency() {
  const root = join(scratch, 'watch')
  const project = join(root, 'projects', '-srv')
  mkdirSync(project, { recursive: true })
  Object.assign(process.env, { CLAUDE_CONFIG_DIR: root, SKEIN_HOME: join(root, 'skein') })
  const log = join(project, '11111111-1111-4111-8111-111111111111.jsonl')
  let n = 0
  const line = (size) => {
    n += 1
    const id = String(n).padStart(12, '0')
    const before = n === 1 ? null : `00000000-0000-4000-8000-${String(n - 1).padStart(12, '0')}`
    return `${JSON.stringify({ parentUuid: before, isSidechain: false, userType: 'external', cwd: '/srv', sessionId: '11111111-1111-4111-8111-111111111111', version: '2.1.0', type: 'user', message: { role: 'user', content: 'x'.repeat(size) }, uuid: `00000000-0000-4000-8000-${id}`, timestamp: new Date(1_760_000_000_000 + n * 1000).toISOString() })}\n`
  }
  const lines = []
  for (let size = 0; size < 50e6; size += 50_000) lines.push(line(50_000))
  writeFileSync(log, lines.join(''))
  const watcher = spawn(process.execPath, [SKEIN, 'ingest', '--watch', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const next = () =>
    new Promise((resolve) =>
      watcher.stdout.once('data', (data) => resolve(JSON.parse(String(data).trim().split('\n')[0]))),
    )
  await next()
  const times = []
  let bytes = 0
  for (let round = 0; round < 10; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const heard = next()
    const text = line(200)
    const from = performance.now()
    appendFileSync(log, text)
    const { bytes: read } = await heard // said after the transaction is committed
    times.push(performance.now() - from)
    bytes = Math.max(bytes, read - text.length)
  }
  const ended = new Promise((resolve) => watcher.once('exit', resolve))
  watcher.kill('SIGINT')
  await ended // it still writes: the directory goes next
  return [
    [
      `a line appended to a log of ${Math.round(statSync(log).size / 1e6)} MB is stored after, ms (worst of 10)`,
      Math.max(...times),
      300,
    ],
    ['bytes read beyond that line', bytes, 0],
  ]
}
