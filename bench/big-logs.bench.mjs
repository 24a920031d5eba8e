// One long log: what an ingest of it takes, and what the daemon's callers notice while it is read.
//   node scripts/bench.mjs big-logs [--small | --mb=60,500] [--json]
// --small: only the log of 60 MB; --mb: those sizes. Each figure is also written to stderr as soon as it is known. Memory is the peak that the system saw (VmHWM); a wait is that of a request every 50 ms.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeClaudeLog } from './big-log.mjs'
import { report } from './measure.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const SKEIN = join(ROOT, 'bin', 'skein.js')
const DAEMON = join(ROOT, 'dist', 'daemon', 'daemon-main.cjs')
const MOST_MEMORY = 500
const MOST_WAIT = 100
const chosen = process.argv.find((flag) => flag.startsWith('--mb='))?.slice('--mb='.length)
const sizes = chosen ? chosen.split(',').map(Number) : process.argv.includes('--small') ? [60] : [60, 500, 1_000]
const scratch = mkdtempSync(join(tmpdir(), 'skein-bench-big-'))
const probes = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'skein-bench-probe-'))

const health = (socketPath) =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/v1/health' }, (response) => {
      let text = ''
      response.on('data', (data) => {
        text += data
      })
      response.on('end', () => resolve(JSON.parse(text)))
    })
    asked.on('error', reject)
    asked.end()
  })

/** In megabytes. */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const childrenOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )

/** On a busy machine every program waits for a processor: what one waits that has nothing to do is not the daemon's doing. */
function idleProgram() {
  const program = `const delays = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 20 })
    delays.enable()
    process.stdin.resume().on('end', () => process.stdout.write(String(Math.round(delays.max / 1e6 - 20))))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  return {
    async longestDelay() {
      child.stdin.end()
      const [told] = await once(child.stdout, 'data')
      return Number(told)
    },
  }
}

try {
  const rows = []
  for (const mb of sizes)
    for (const shape of ['usual', 'words']) {
      const measured = await measure(mb, shape)
      for (const [what, value] of measured) process.stderr.write(`${what}: ${Math.round(value * 100) / 100}\n`)
      rows.push(...measured)
    }
  report('big-logs', rows)
} finally {
  for (const directory of [scratch, probes]) rmSync(directory, { recursive: true, force: true })
}

async function measure(mb, shape) {
  const home = join(scratch, `${mb}-${shape}`)
  mkdirSync(home, { recursive: true })
  const log = writeClaudeLog(home, mb * 1_000_000, shape)
  const what = `${mb} MB, ${shape === 'usual' ? 'mostly results' : 'mostly words'}`
  const env = { PATH: process.env.PATH, HOME: home, SKEIN_HOME: join(home, 'skein') }
  try {
    const once = ingest(env)
    rmSync(env.SKEIN_HOME, { recursive: true, force: true })
    const daemon = await throughDaemon(env, log)
    return [
      [`${what}: ingest, wall s`, once.seconds],
      [`${what}: ingest, peak memory, MB`, once.peak, MOST_MEMORY],
      [`${what}: the daemon's reading process, peak memory, MB`, daemon.reader, MOST_MEMORY],
      [`${what}: the daemon meanwhile, peak memory, MB`, daemon.peak],
      [`${what}: the same minutes, a Node that does nothing, longest delay, ms`, daemon.elsewhere],
      [`${what}: the daemon's event loop, longest delay, ms`, daemon.delay],
      [`${what}: the same without its waits for a processor, ms`, daemon.own, MOST_WAIT],
      [`${what}: most processor time in one turn of that loop, ms`, daemon.turn, MOST_WAIT],
      [`${what}: longest wait for an answer of the daemon, ms`, daemon.wait],
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function ingest(env) {
  const program = `process.on('exit', () => process.stderr.write('PEAK ' + process.resourceUsage().maxRSS)); process.argv.splice(1, 1); require(${JSON.stringify(SKEIN)})`
  const began = performance.now()
  const { stderr } = spawnSync(process.execPath, ['-e', program, 'skein', 'skein', 'ingest', '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env,
    cwd: '/',
  })
  return { seconds: (performance.now() - began) / 1000, peak: Number(/PEAK (\d+)/.exec(stderr)?.[1]) / 1024 }
}

/** The log appears after the daemon has loaded and the probe has begun: even a short one is measured from its first byte. */
async function throughDaemon(env, log) {
  const skein = (...args) =>
    JSON.parse(spawnSync(process.execPath, [SKEIN, ...args, '--json'], { encoding: 'utf8', env, cwd: '/' }).stdout)
  const aside = join(env.HOME, 'aside.jsonl')
  renameSync(log, aside)
  const { pid, socket } = await started(env)
  const seen = { reader: 0, peak: 0, wait: 0, elsewhere: 0 }
  try {
    while (!probed(env.LOOP_PROBE).has_begun || (await health(socket)).ingest.state !== 'waiting') await pause()
    const idle = idleProgram()
    renameSync(aside, log)
    for (let isRead = false; ; await pause()) {
      const began = performance.now()
      const { ingest } = await health(socket)
      seen.wait = Math.max(seen.wait, performance.now() - began)
      seen.peak = peakOf(pid)
      for (const child of childrenOf(pid)) seen.reader = Math.max(seen.reader, peakOf(child))
      isRead ||= ingest.state === 'reading'
      if (isRead && ingest.state === 'waiting') break
    }
    seen.elsewhere = await idle.longestDelay()
    const { delay_ms, own_ms, cpu_ms } = await settled(env.LOOP_PROBE)
    return { ...seen, delay: delay_ms, own: own_ms, turn: cpu_ms }
  } finally {
    skein('daemon', 'stop')
  }
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 50))
}

/** What the probe wrote after the reading ended. */
async function settled(path) {
  const before = statSync(path).mtimeMs
  while (statSync(path).mtimeMs === before || !probed(path).has_begun) await pause()
  return probed(path)
}

/** The daemon's own program, with a probe in it. */
async function started(env) {
  const record = join(env.SKEIN_HOME, 'run', 'default.json')
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 })
  // In memory: a probe that writes to the disk that everybody writes to would wait for it, and find its own wait.
  env.LOOP_PROBE = join(probes, `${basename(env.HOME)}.json`)
  spawn(process.execPath, ['--require', join(ROOT, 'bench', 'loop-probe.cjs'), DAEMON, 'default'], {
    env,
    cwd: '/',
    stdio: 'ignore',
    detached: true,
  }).unref()
  while (!existsSync(record)) await new Promise((resolve) => setTimeout(resolve, 20))
  return JSON.parse(readFileSync(record, 'utf8'))
}

/** A file that is just being written counts as nothing new. */
function probed(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { has_begun: false }
  }
}
