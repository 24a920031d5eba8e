// Finding what was said, in a year of it: 1 GB of logs in 5,000 sessions; --small takes 100 MB in 500.
//   node scripts/bench.mjs search [--small] [--json] [--peer=<the ccusage binary>] [--corpus=<a tree that gen-corpus made>]
// Reading is compared with ccusage's scan of the same logs, which reads tokens only; the command with Node itself.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { searchText, TextStore } from '../dist/ingest.js'
import { inScratch, median, quantile, report } from './measure.mjs'
import { ccusage } from './peer.mjs'
import { interleaved, timedRun } from './timed-run.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const SKEIN = join(dirname(here), 'bin', 'skein.js')
const size = process.argv.includes('--small')
  ? { mb: 100, sessions: 500, seed: 1, rounds: 5 }
  : { mb: 1000, sessions: 5000, seed: 2, rounds: 1 }
const QUERIES = 300

await inScratch(async (scratch) => {
  const peer = ccusage()
  const root = process.argv.find((flag) => flag.startsWith('--corpus='))?.slice('--corpus='.length) ?? made(scratch)
  const home = join(scratch, 'skein')
  Object.assign(process.env, { HOME: scratch, CLAUDE_CONFIG_DIR: root, SKEIN_HOME: home })
  const scan = () => timedRun([peer, 'claude', 'daily', '--offline', '--json'])
  scan() // the files are in the memory of the system from here on
  const runs = Array.from({ length: size.rounds }, () => {
    rmSync(home, { recursive: true, force: true })
    return { theirs: scan().cpuMs, ours: timedRun([process.execPath, SKEIN, 'ingest', '--json']).cpuMs }
  })
  const store = TextStore.open(join(home, 'profiles', 'default', 'text.db'))
  const command = interleaved(
    {
      skein: () => timedRun([process.execPath, SKEIN, 'search', 'mutex', 'lock']),
      node: () => timedRun([process.execPath, '-e', '0']),
    },
    15,
  )
  report('search', [
    ["ccusage's scan, CPU ms", median(runs.map((run) => run.theirs))],
    ['ingest with text, CPU ms', median(runs.map((run) => run.ours))],
    ['ratio', median(runs.map((run) => run.ours / run.theirs)), 8],
    ...sizes(store),
    ...queries(store),
    ['whole command, wall ms', command.skein.wallMs],
    ['whole command: ratio to node -e 0', command.skein.wallMs / command.node.wallMs, 4],
    ['needles of the manifest that are not found', needlesNotFound(store, root), 0],
  ])
})

function made(scratch) {
  const out = join(scratch, 'corpus')
  const { mb, sessions, seed } = size
  const settings = Object.entries({ mb, sessions, seed, out }).flatMap(([name, value]) => [`--${name}`, `${value}`])
  execFileSync(process.execPath, [join(here, 'gen-corpus.mjs'), ...settings], { stdio: 'ignore' })
  return out
}

function sizes({ db }) {
  const { bytes } = db.get('select sum(length) as bytes from passages')
  const { packed } = db.get('select sum(length(data)) as packed from text_blocks')
  const sized = (names) =>
    db.get(`select sum(pgsize) as bytes from dbstat where name in (${names.map((name) => `'${name}'`).join(', ')})`)
      .bytes
  const words = sized(['words_data', 'words_idx', 'words_docsize', 'words_config'])
  const places = sized(['passages', 'passages_by_key'])
  return [
    ['text, MB', bytes / 1e6],
    ['text compressed, share of the text', packed / bytes],
    ['index of words, share of the text', words / bytes, 0.25],
    ['index of words and places of passages, share of the text', (words + places) / bytes, 0.25],
  ]
}

/** Words as frequent as they come, by the logarithm of their rank: half of them are rare, a few are everywhere. */
function queries(store) {
  const known = store.db.all('select term from words_vocabulary where doc > 3 order by doc desc').map((row) => row.term)
  const words = known.filter((term) => /^[a-z]{3,}$/.test(term))
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const word = () => words[Math.floor(Math.exp(random() * Math.log(words.length))) - 1] ?? words[0]
  const kinds = {
    'one to three words': () => Array.from({ length: 1 + Math.floor(random() * 3) }, word).join(' '),
    'beginning of a word': () => `${word().slice(0, 3)}*`,
    'phrase of two words': () => `"${word()} ${word()}"`,
    identifier: () => `${word()}_${word()}`,
  }
  const all = []
  const rows = Object.entries(kinds).flatMap(([name, make]) => {
    const times = Array.from({ length: QUERIES }, () => {
      const text = make()
      const from = performance.now()
      searchText(store, { text, limit: 20 })
      return performance.now() - from
    })
    all.push(...times)
    return [
      [`${name}: p50, ms`, median(times)],
      [`${name}: p99, ms`, quantile(times, 0.99)],
    ]
  })
  return [...rows, ['all of these: p50, ms', median(all), 15], ['all of these: p99, ms', quantile(all, 0.99), 120]]
}

function needlesNotFound(store, root) {
  const { needles } = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8'))
  return Object.entries(needles).filter(([needle, sessions]) => {
    const { hits } = searchText(store, { text: needle, limit: 1_000 })
    return !hits.some((hit) => sessions.includes(hit.session))
  }).length
}
