// Programs wait for their hooks. An observing hook runs at every prompt and every tool call, so it is compared with starting the smallest
// program there is; both are started the way an agent does it. A thousand at once is a fleet that wakes up together: none may be lost. The
// answering hook runs when a session begins; most of its time is Node's own, so the measure is the ratio to `node -e 0`, in a home with
// 100,000 sessions, which is several years of a team.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHome } from '../dist/library.js'
import { inScratch, median, report } from './measure.mjs'
import { writeJournal } from './world.mjs'

const SKEIN = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')
const ROUNDS = 60
const AT_ONCE = 1_000
const SESSION = '11111111-1111-4111-8111-111111111111'
const MESSAGE = JSON.stringify({ hook_event_name: 'SessionStart', session_id: SESSION, source: 'startup', cwd: '/tmp' })

await inScratch(async (root) => {
  writeJournal(root, { sessions: 100_000 })
  const home = await openHome({ home: root, onWarning: () => {} })
  await home.index.rebuild()
  const agent = await home.roster.add({ address: 'web/bench', tool: 'claude' })
  const unit = await home.work.add({ title: 'Measure it' })
  await home.work.hook(unit.id, { address: agent.address, id: agent.id })
  await home[Symbol.asyncDispose]()
  const profile = join(root, 'profiles', 'default')
  const spool = join(profile, 'spool')
  mkdirSync(spool, { recursive: true })
  const env = { ...process.env, HOME: root, SKEIN_HOME: root }
  // The line of a hook as `skein hooks install` writes it, which is the one of a run with a test in front.
  mkdirSync(join(root, '.claude'))
  spawnSync(process.execPath, [SKEIN, 'hooks', 'install', 'claude'], { env })
  const { hooks } = JSON.parse(readFileSync(join(root, '.claude', 'settings.json'), 'utf8'))
  const line = hooks.SessionEnd[0].hooks[0].command
  const run = join(root, 'hook.json')
  const facts = {
    root,
    config_file: join(root, 'config.toml'),
    profile: 'default',
    agent: agent.id,
    run: 'r',
    tool: 'claude',
  }
  writeFileSync(run, JSON.stringify({ v: 1, ...facts }))

  const rows = [
    ['observing hook: x /bin/true', ...observing(line, env)],
    ['messages lost of 1,000 hooks at once', await lost(line, spool, env), 0],
    ...answering(run, env),
  ]
  report('hooks', rows)
})

function timed(program, args, options) {
  const from = performance.now()
  const { status, stderr } = spawnSync(program, args, options)
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`)
  return performance.now() - from
}

function observing(line, env) {
  const times = { base: [], hook: [] }
  for (let round = 0; round < 4 * ROUNDS; round += 1) {
    times.base.push(timed('/bin/true', [], { env, input: MESSAGE }))
    times.hook.push(timed('sh', ['-c', line], { env, input: MESSAGE }))
  }
  const [base, hook] = [median(times.base), median(times.hook)]
  return [hook / base, 4, `(${hook.toFixed(1)} ms and ${base.toFixed(1)} ms)`]
}

async function lost(line, spool, env) {
  const arrived = () => readdirSync(spool).filter((name) => name.endsWith('.msg')).length
  const before = arrived()
  await Promise.all(
    Array.from({ length: AT_ONCE }, () => {
      const hook = spawn('sh', ['-c', line], { env, stdio: ['pipe', 'ignore', 'ignore'] })
      hook.stdin.end(MESSAGE)
      return new Promise((resolve) => hook.on('exit', resolve))
    }),
  )
  return AT_ONCE - (arrived() - before)
}

function answering(run, env) {
  const commands = {
    'skein hook SessionStart': [SKEIN, 'hook', 'SessionStart', '--run', run, '--pid', String(process.pid)],
    'skein prime --hook': [SKEIN, 'prime', '--hook'],
  }
  const times = { base: [], ...Object.fromEntries(Object.keys(commands).map((name) => [name, []])) }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.base.push(timed(process.execPath, ['-e', '0'], { env, input: MESSAGE }))
    for (const [name, args] of Object.entries(commands))
      times[name].push(timed(process.execPath, args, { env: { ...env, SKEIN_AGENT: 'web/bench' }, input: MESSAGE }))
  }
  const base = median(times.base)
  return Object.keys(commands).map((name) => {
    const taken = median(times[name])
    return [`${name}, 100,000 sessions: x node -e 0`, taken / base, 3, `(${taken.toFixed(1)} ms)`]
  })
}
