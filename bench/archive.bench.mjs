// What it costs to keep what was said a second time, and how large that is. 100 MB in 500 sessions; --large takes 1 GB in 5,000.
//   node scripts/bench.mjs archive [--large] [--json] [--corpus=<a tree that gen-corpus made>]
// The reference is the same reading of the same logs without the archive, in turns with it.
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch, median, report } from './measure.mjs'
import { timedRun } from './timed-run.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const size = process.argv.includes('--large')
  ? { mb: 1000, sessions: 5000, seed: 2, rounds: 3 }
  : { mb: 100, sessions: 500, seed: 1, rounds: 9 }

await inScratch(async (scratch) => {
  const corpus = process.argv.find((flag) => flag.startsWith('--corpus='))?.slice('--corpus='.length) ?? made(scratch)
  const home = join(scratch, 'home')
  const run = (archiving) => {
    rmSync(home, { recursive: true, force: true })
    return timedRun([process.execPath, join(here, 'ingest-words.mjs'), corpus, home, archiving]).cpuMs
  }
  run('without') // the files are in the memory of the system from here on
  const runs = Array.from({ length: size.rounds }, () => ({ without: run('without'), with: run('with') }))
  const logs = bytesUnder(join(corpus, 'projects'), '.jsonl')
  const archive = bytesUnder(join(home, 'archive'))
  report('archive', [
    ['reading without the archive, CPU ms', median(runs.map((one) => one.without))],
    ['reading with it, CPU ms', median(runs.map((one) => one.with))],
    ['ratio', median(runs.map((one) => one.with / one.without)), 1.15],
    ['logs, MB', logs / 1e6],
    ['archive, MB', archive / 1e6],
    ['archive, share of the logs, %', (100 * archive) / logs],
    ['text.db and history.db, MB', bytesUnder(home, '.db') / 1e6],
  ])
})

function made(scratch) {
  const out = join(scratch, 'corpus')
  const { mb, sessions, seed } = size
  const settings = Object.entries({ mb, sessions, seed, out }).flatMap(([name, value]) => [`--${name}`, `${value}`])
  execFileSync(process.execPath, [join(here, 'gen-corpus.mjs'), ...settings], { stdio: 'ignore' })
  return out
}

function bytesUnder(directory, ending = '') {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
}
