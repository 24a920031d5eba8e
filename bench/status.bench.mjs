// What an agent does is only worth knowing while it is so. 200 changes of 100 agents, each from the moment a hook has put its message
// into the spool to the moment a reader of the live stream has it. And the segment of a status line, which a prompt asks for on every
// line: its time is Node's own, so the measure is the ratio to `node -e 0`.
import { spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Herd, SKEIN } from './herd.mjs'
import { inScratch, median, quantile, report } from './measure.mjs'

const CHANGES = 200
const ROUNDS = 40

await inScratch(async (root) => {
  const herd = new Herd(root)
  await herd.fill(Array.from({ length: 100 }, () => ({ tool: 'claude', source: 'hook' })))
  try {
    const { socket } = herd.startDaemon()
    await new Promise((resolve) => setTimeout(resolve, 2_000)) // the first look at everything is over
    const rows = [...(await visible(herd, socket)), ...statusline(herd)]
    report('status', rows)
  } finally {
    herd.end()
  }
})

async function visible(herd, socket) {
  const news = new EventEmitter()
  const hangUp = await herd.follow(socket, ({ payload }) =>
    news.emit(payload.agent_id, payload.status, performance.now()),
  )
  const taken = []
  for (let change = 0; change < CHANGES; change += 1) {
    const at = change % herd.agents.length
    const heard = once(news, herd.agents[at].id)
    const sent = herd.says(
      at,
      change < herd.agents.length
        ? { hook_event_name: 'UserPromptSubmit', prompt: 'go' }
        : { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'ls' } },
    )
    const [, seen] = await heard
    taken.push(seen - sent)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  hangUp()
  return [
    ['change to visible in the live stream, median, ms', median(taken), 50],
    ['change to visible in the live stream, p99, ms', quantile(taken, 0.99), 250],
  ]
}

/** Each beside its own `node -e 0`: the machine may be busier a minute later. */
function statusline(herd) {
  const up = ratio(herd)
  herd.skein('daemon', 'stop')
  const down = ratio(herd)
  herd.startDaemon()
  return [
    ['skein statusline: x node -e 0', up, 2],
    ['skein statusline without a daemon, 100 agents: x node -e 0', down, 2],
  ]
}

function ratio(herd) {
  const base = []
  const own = []
  for (let round = 0; round < ROUNDS; round += 1) {
    base.push(timed(['-e', '0'], herd.env).ms)
    const { ms, stdout } = timed([SKEIN, 'statusline'], herd.env)
    if (!stdout.startsWith('!')) throw new Error(`statusline printed ${stdout}`)
    own.push(ms)
  }
  return median(own) / median(base)
}

function timed(args, env) {
  const from = performance.now()
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return { ms: performance.now() - from, stdout }
}
