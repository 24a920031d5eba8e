// What has this cost? Someone waits for the answer at a prompt, so it is measured as whole processes, against ccusage 20 (Rust).
//   node scripts/bench.mjs cost [--large] [--json] [--peer=<the ccusage binary>]
// 100 MB in 500 sessions is a few months of one person. --large adds 1 GB in 5,000, a year of a busy one; it takes minutes.
// The peer is installed from npm into the temporary directory unless it is given; its binary is run directly, without its launcher.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ccusage } from './peer.mjs'
import { interleaved, timedRun } from './timed-run.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const flags = new Set(process.argv.slice(2))
const sizes = [{ mb: 100, sessions: 500, seed: 1, rounds: 11 }]
if (flags.has('--large')) sizes.push({ mb: 1000, sessions: 5000, seed: 2, rounds: 3 })

const scratch = mkdtempSync(join(tmpdir(), 'skein-bench-cost-'))
try {
  const peer = ccusage()
  process.env.HOME = scratch // the peer looks for logs and settings there
  const records = sizes.map((size) => measure(size, peer))
  if (flags.has('--json')) console.log(JSON.stringify(records))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function measure({ mb, sessions, seed, rounds }, peer) {
  const root = join(scratch, `corpus-${mb}`)
  const settings = { mb, sessions, seed, out: root }
  const generate = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  execFileSync(process.execPath, [join(here, 'gen-corpus.mjs'), ...generate], { stdio: 'ignore' })
  const ledger = join(root, 'ledger.db')
  // Both programs look there for logs; skein keeps what it stores beside them.
  Object.assign(process.env, { CLAUDE_CONFIG_DIR: root, SKEIN_HOME: join(root, 'skein') })
  const skein = (...args) => [process.execPath, join(dirname(here), 'bin', 'skein.js'), 'cost', '--json', ...args]
  const alone = (what) => [process.execPath, join(here, 'warm-cost.mjs'), ledger, root, what]
  checkTotals(root, skein('--no-index', '--by', 'model'))
  const first = timedRun(skein())
  checkTotals(root, skein('--by', 'model'))
  timedRun(alone('refresh'))

  const theirs = (by) => () => timedRun([peer, 'claude', by, '--offline', '--json'])
  const medians = interleaved(
    {
      'ccusage daily': theirs('daily'),
      'ccusage session': theirs('session'),
      'skein cost --no-index': () => timedRun(skein('--no-index')),
      'skein cost, warm': () => timedRun(skein()),
      'ledger, look for news': () => timedRun(alone('refresh')),
      'ledger, report only': () => timedRun(alone('report')),
    },
    rounds,
  )
  rmSync(root, { recursive: true, force: true })
  const table = { ...medians, 'skein cost, first (once)': first }
  console.log(`\n${mb} MB, ${sessions} sessions, median of ${rounds} rounds\n`)
  console.log(['', 'cpu ms', 'wall ms', 'cpu / ccusage daily', 'wall / ccusage daily'].map(column).join(''))
  const base = medians['ccusage daily']
  for (const [name, { cpuMs, wallMs }] of Object.entries(table)) {
    const ratios = [cpuMs / base.cpuMs, wallMs / base.wallMs].map((ratio) => ratio.toFixed(3))
    console.log([name, cpuMs.toFixed(0), wallMs.toFixed(0), ...ratios].map(column).join(''))
  }
  return { mb, sessions, seed, rounds, ...table }
}

function column(text, index) {
  return index === 0 ? `${text}`.padEnd(28) : `${text}`.padStart(22)
}

/** A quick answer that is wrong is worth nothing. */
function checkTotals(root, argv) {
  const { byModel } = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8'))
  const report = JSON.parse(execFileSync(argv[0], argv.slice(1), { encoding: 'utf8', maxBuffer: 1 << 28 }))
  const found = Object.fromEntries(
    report.rows.map((row) => [
      row.key,
      [
        row.calls,
        row.input_tokens,
        row.output_tokens,
        row.cache_read_tokens,
        row.cache_write_5m_tokens,
        row.cache_write_1h_tokens,
      ],
    ]),
  )
  for (const [model, truth] of Object.entries(byModel)) {
    const expected = [truth.calls, truth.input, truth.output, truth.cacheRead, truth.cacheWrite5m, truth.cacheWrite1h]
    if (`${found[model]}` !== `${expected}`) throw new Error(`${model}: found ${found[model]}, expected ${expected}`)
  }
}
