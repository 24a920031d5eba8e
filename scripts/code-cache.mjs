// Writes the packs that `bin/code-cache.js` reads: for each bundle, what V8 made of its chunks in some runs of the program. V8 keeps the
// functions that a run has called, so the runs are those that people and agents wait for; of each chunk the fullest result is kept.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { packOf } = createRequire(import.meta.url)(join(root, 'bin', 'code-cache.js'))
const RUNS = {
  cli: [['session', 'start', '--id', 'one'], ['sessions', 'list'], ['list'], ['show', 'one']],
  hook: [['prime', '--hook']],
}

export function writeCodePacks() {
  const scratch = mkdtempSync(join(tmpdir(), 'skein-code-'))
  mkdirSync(join(scratch, 'home'))
  writeFileSync(join(scratch, 'home', 'config.toml'), '[daemon]\nautostart = false\n')
  try {
    for (const [bundle, runs] of Object.entries(RUNS)) writePack(join(root, 'dist', bundle), runs, scratch)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function writePack(bundle, runs, scratch) {
  const made = new Map()
  for (const words of runs) {
    for (const [name, code] of codeOf(bundle, words, scratch))
      if (code.length > (made.get(name)?.length ?? 0)) made.set(name, code)
  }
  const list = []
  let at = 0
  for (const [name, { length }] of made) {
    list.push([name, at, length])
    at += length
  }
  const head = Buffer.from(JSON.stringify(list))
  const size = Buffer.alloc(4)
  size.writeUInt32LE(head.length)
  writeFileSync(packOf(bundle), Buffer.concat([size, head, ...made.values()]))
}

/** Runs the program in the scratch home. */
function codeOf(bundle, words, scratch) {
  const out = mkdtempSync(join(scratch, 'run-'))
  const home = join(scratch, 'home')
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SKEIN_HOME: home,
    TMUX_TMPDIR: scratch,
    SKEIN_CODE_OUT: out,
    SKEIN_CODE_OF: bundle,
  }
  const preload = join(root, 'scripts', 'keep-code.cjs')
  execFileSync(process.execPath, ['--require', preload, join(root, 'bin', 'skein.js'), ...words], {
    env,
    input: '',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  return readdirSync(out).map((name) => [name, readFileSync(join(out, name))])
}
