// An agent's directory hangs, as when a FUSE program does: first the directory itself, then one that a link leads to.
// Runs as the first process of a pid namespace, with mounts of its own. argv: a scratch directory. Prints what was answered as JSON.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { mountDead } from './dead-mount.mjs'

const [scene] = process.argv.slice(2)
const BINARY = fileURLToPath(new URL('../../bin/skein.js', import.meta.url))
const env = { PATH: '/usr/bin:/bin', HOME: scene, SKEIN_HOME: join(scene, 'home'), TMUX_TMPDIR: scene, LANG: 'C.UTF-8' }

async function skein(...args) {
  const options = { env, cwd: scene, timeout: 120_000, killSignal: 'SIGKILL' }
  const done = promisify(execFile)(process.execPath, [BINARY, ...args, '--json'], options)
  const { stdout, stderr, killed, code } = await done.catch((error) => error)
  if (killed) throw new Error(`skein ${args.join(' ')} never answered`)
  return JSON.parse(code ? stderr || stdout : stdout)
}

const problems = async () => {
  const { agents } = await skein('list')
  return Object.fromEntries(agents.map(({ address, cwd_problem }) => [address, cwd_problem ?? 'none']))
}
const addresses = async () => (await skein('list')).agents.map(({ address }) => address)

/** Processes that ask a mount and get no answer. */
const waiting = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).startsWith('stat\0-f\0--\0')).length

function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has just ended
  }
}

for (const name of ['real', 'free']) mkdirSync(join(scene, name))
symlinkSync('real', join(scene, 'link'))
await skein('spawn', join(scene, 'real'), '--agent', 'there', '--tool', 'claude')
await skein('spawn', join(scene, 'link'), '--agent', 'linked', '--tool', 'claude')
await skein('spawn', join(scene, 'free'), '--agent', 'free', '--tool', 'claude')
const before = await problems()
const restore = mountDead(join(scene, 'real'), { reads: true })
const dead = await problems()
const again = await problems()
const left = waiting()
const refused = await skein('start', join(scene, 'link', 'below'), '--agent', 'new', '--tool', 'claude')
await skein('daemon', 'start')
const watched = await problems()
const known = await addresses()
restore()
const after = await problems()
await skein('daemon', 'stop')
process.stdout.write(`${JSON.stringify({ before, dead, again, left, refused, watched, known, after })}\n`)
process.exit(0)
