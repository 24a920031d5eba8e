// A dead agent must be noticed before its user does: 100 deaths one after the other, then 50 at once, from the kill to the event on the
// daemon's stream, in a process namespace of their own, where the kernel's last pid tells how many processes were started meanwhile: watching alone starts none (`idle-agents`).
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Herd } from './herd.mjs'
import { inScratch, median, quantile, report } from './measure.mjs'

const SINGLE = 100
const AT_ONCE = 50
const LIMIT_MS = 1_000

if (process.env.BENCH_ALONE === '1') await measure()
else {
  const own = process.geteuid() === 0 ? [] : ['--user', '--map-root-user']
  const args = [...own, '--pid', '--fork', '--mount-proc', process.execPath, fileURLToPath(import.meta.url)]
  const env = { ...process.env, BENCH_ALONE: '1' }
  const { status } = spawnSync('unshare', [...args, ...process.argv.slice(2)], { stdio: 'inherit', env })
  process.exitCode = status ?? 1
}

async function measure() {
  await inScratch(async (root) => {
    const herd = new Herd(root)
    await herd.fill(Array.from({ length: SINGLE + AT_ONCE + 1 }, () => ({ tool: 'codex', source: 'hook' })))
    herd.tmux('set-option', '-g', 'remain-on-exit', 'on') // as Skein sets it for its agents
    try {
      const { socket } = herd.startDaemon()
      await pause(5_000)
      const heard = new Map()
      const hangUp = await herd.follow(socket, ({ payload }) => {
        if (payload.status === 'error') heard.set(payload.agent_id, performance.now())
      })
      const before = lastPid()
      const single = []
      for (let at = 0; at < SINGLE; at += 1) single.push(await untilHeard(heard, [kill(herd, at)]))
      const started = lastPid() - before
      const many = Array.from({ length: AT_ONCE }, (_, at) => kill(herd, SINGLE + at))
      const all = await untilHeard(heard, many)
      hangUp()
      const order = many.map(({ id }) => heard.get(id))
      const turned = order.filter((at, index) => index > 0 && at < order[index - 1]).length
      report('deaths', [
        ['a death to its event, median, ms', median(single)],
        ['a death to its event, p99 of 100, ms', quantile(single, 0.99), LIMIT_MS],
        ['processes and threads started, per death', started / SINGLE, 1],
        ['50 deaths at once, until the last event, ms', all],
        ['of these, events out of order', turned, 0],
      ])
    } finally {
      herd.end()
    }
  })
}

function kill(herd, at) {
  const { id } = herd.agents[at]
  const { run } = JSON.parse(readFileSync(join(herd.profile, 'agents', `${id}.json`), 'utf8'))
  const killed = { id, at: performance.now() }
  process.kill(run.pid, 'SIGKILL')
  return killed
}

/** How long after the first kill the last of them was heard of. */
async function untilHeard(heard, killed) {
  for (const end = performance.now() + 60_000; !killed.every(({ id }) => heard.has(id)); await pause(5))
    if (performance.now() > end) throw new Error('a death was not noticed within a minute')
  return Math.max(...killed.map(({ id }) => heard.get(id))) - killed[0].at
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The pid given out last in this namespace. */
function lastPid() {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1))
}
