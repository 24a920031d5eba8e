// Runs every program under bench/ (or the ones named), each in a process of its own, on the built library.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith('-'))
const flags = process.argv.slice(2).filter((arg) => arg.startsWith('-'))
const built = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' })
if (built.status !== 0) process.exit(1)

const names = readdirSync(join(root, 'bench'))
  .filter((name) => name.endsWith('.bench.mjs'))
  .map((name) => name.replace(/\.bench\.mjs$/, ''))
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}. There are: ${names.join(', ')}`)
  process.exit(2)
}
let failed = 0
for (const name of wanted.length > 0 ? wanted : names) {
  console.log(`\n## ${name}`)
  // What npm needs for installing a peer must not reach what is measured.
  const env = { ...process.env, BENCH_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '' }
  for (const name of Object.keys(env)) {
    // A benchmark makes its own logs and must not find the user's.
    if (/^(SKEIN|CLAUDE|CODEX|GEMINI|OPENCODE|OPENCLAW|PI|QWEN|XDG)_/.test(name)) delete env[name]
  }
  delete env.NODE_EXTRA_CA_CERTS // three times the start-up of Node 20: it would hide what is measured
  const { status } = spawnSync(process.execPath, [join(root, 'bench', `${name}.bench.mjs`), ...flags], {
    cwd: root,
    stdio: 'inherit',
    env,
  })
  if (status !== 0) failed += 1
}
process.exit(failed > 0 ? 1 : 0)
