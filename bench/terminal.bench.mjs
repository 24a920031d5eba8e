// What an attended list of agents asks of tmux all day: all screens, a new pane, what has just happened. The baseline is one tmux
// process per question, as most tools do it, in the same run. 60 panes are a busy day; 100 are the most that is promised.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openTerminal, writeLaunchScript } from '../dist/terminal.js'
import { inScratch, median, quantile, report } from './measure.mjs'

const PANES = 60
const MANY = 100
const ROUNDS = 15
const EVENTS = 200
const IDLE_MS = 10_000
const TICKS_PER_S = 100

const context = {
  clock: { now: () => Date.now() },
  random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
  warn: console.error,
  progress: () => {},
  actor: 'bench',
  host: 'bench',
}
const timed = async (body) => {
  const from = performance.now()
  await body()
  return performance.now() - from
}
const cpuMs = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_S) * 1_000
}

await inScratch(async (root) => {
  const socket = { path: join(root, 'tmux') }
  const tmux = (...args) => execFileSync('tmux', ['-S', socket.path, ...args], { encoding: 'utf8' })
  const terminal = await openTerminal({
    socket,
    context,
    kept: true,
    environment: { PATH: process.env.PATH, HOME: root },
  })
  let scripts = 0
  const create = (session, argv) => {
    scripts += 1
    const script = join(root, `launch-${scripts}`)
    writeLaunchScript({ path: script, argv, env: {} })
    return terminal.create({ session, cwd: root, script, agent: session })
  }
  try {
    const screen =
      'for n in $(seq 1 40); do echo "line $n of what an agent shows while it works on something"; done; exec sleep 600'
    const panes = []
    for (let n = 0; n < PANES; n += 1) panes.push((await create(`agent-${n}`, ['sh', '-c', screen])).pane)
    await sleep(500)

    const captures = { connection: [], processes: [], parallel: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      captures.connection.push(
        await timed(async () => {
          const screens = await terminal.captureAll(panes)
          if (screens.size !== PANES) throw new Error('a screen is missing')
        }),
      )
      captures.processes.push(
        await timed(() => {
          for (const pane of panes) spawnSync('tmux', ['-S', socket.path, 'capture-pane', '-p', '-t', pane])
        }),
      )
      const run = promisify(execFile)
      captures.parallel.push(
        await timed(() =>
          Promise.all(panes.map((pane) => run('tmux', ['-S', socket.path, 'capture-pane', '-p', '-t', pane]))),
        ),
      )
    }

    const starts = { bare: [], ours: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      starts.bare.push(await timed(() => tmux('new-session', '-d', '-s', `bare-${round}`, '-c', root, 'sleep', '600')))
      starts.ours.push(await timed(() => create(`ours-${round}`, ['sleep', '600'])))
      tmux('kill-session', '-t', `=bare-${round}`)
      await terminal.close(`ours-${round}`)
    }

    for (let n = PANES; n < MANY; n += 1) await create(`agent-${n}`, ['sleep', '600'])
    const stop = new AbortController()
    const seen = []
    let heard = () => {}
    const following = (async () => {
      for await (const event of terminal.follow(stop.signal)) {
        seen.push(event)
        heard(event)
      }
    })()
    while (seen.length === 0) await sleep(10)
    const server = Number(tmux('display-message', '-p', '#{pid}'))
    const before = { server: cpuMs(server), us: process.cpuUsage() }
    await sleep(IDLE_MS)
    const us = process.cpuUsage(before.us)
    const idle = { server: (cpuMs(server) - before.server) / IDLE_MS, us: (us.user + us.system) / 1_000 / IDLE_MS }

    const told = []
    for (let n = 0; n < EVENTS; n += 1) {
      const title = `title ${n}`
      const arrived = new Promise((resolve) => {
        heard = (event) => event.type === 'title' && event.title === title && resolve()
      })
      told.push(await timed(() => Promise.all([arrived, setTitle(tmux, panes[n % PANES], title)])))
    }
    stop.abort()
    await following

    const ms = (values) => `(${median(values).toFixed(1)} ms)`
    // The fastest round of each: an answer of 3 ms is all waiting for a turn when the machine is busy.
    const against = (values) => fastest(captures.connection) / fastest(values)
    report('terminal', [
      [
        `${PANES} screens over the connection, share of one process each`,
        against(captures.processes),
        1 / 50,
        times(captures.processes, captures.connection),
      ],
      [
        'the same, all processes at once',
        against(captures.parallel),
        undefined,
        times(captures.parallel, captures.connection),
      ],
      ['a new pane, x tmux new-session -d', median(starts.ours) / median(starts.bare), 1.5, `${ms(starts.ours)}`],
      [`${MANY} idle panes followed: tmux server, % of a core`, idle.server * 100, 0.5],
      [`${MANY} idle panes followed: this process, % of a core`, idle.us * 100, 0.5],
      ['a title is changed (by a tmux process) and known here, ms, median', median(told), 50],
      ['the same, p99', quantile(told, 0.99), 250],
    ])
  } finally {
    await terminal[Symbol.asyncDispose]()
    tmux('kill-server')
  }
})

function times(slow, fast) {
  const [most, least] = [fastest(slow), fastest(fast)]
  return `(${most.toFixed(0)} ms against ${least.toFixed(2)} ms: ${(most / least).toFixed(0)} x)`
}

function fastest(values) {
  return Math.min(...values)
}

function setTitle(tmux, pane, title) {
  tmux('select-pane', '-t', pane, '-T', title)
}
