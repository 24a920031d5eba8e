// After a reboot a user waits for all agents: `skein recover` of 50 without spacing against 50 times `tmux new-session -d` of the same
// program by hand, in the same directory, with panes of the same size and the same variables. `skein recover` goes on until each agent
// has drawn its prompt and has lived for 600 ms. The reference does the same: it starts all, looks at each pane until it shows the prompt,
// waits until the last one has lived that long and looks once more. What Skein also does, and the reference does not: it records durably how each
// ended and that it was started again. The rows without that proof are for information. The programs write down that they run.
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch, median, report } from './measure.mjs'

const SKEIN = fileURLToPath(new URL('../bin/skein.js', import.meta.url))
const AGENTS = 50
const ROUNDS = 5
/** So long an agent that only draws has to live until `skein recover` calls it resumed. */
const PROVEN_MS = 600
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

await inScratch(async (root) => {
  const [mark, program, bare, socket] = ['mark', 'program', 'bare.sock', 'tmux.sock'].map((name) => join(root, name))
  const env = { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root }
  const json = `{ echo "{\\"session_id\\":\\"$(cat /proc/sys/kernel/random/uuid)\\"}"; exit 0; }`
  writeFileSync(program, `#!/bin/sh\n[ "$1" = --json ] && ${json}\necho >> ${mark}\necho ready\nexec sleep 100000\n`)
  chmodSync(program, 0o700)
  writeFileSync(
    join(root, 'config.toml'),
    `[daemon]\nautostart = false\n[recover]\nspacing = 0\n[tmux]\nsocket = "${socket}"\n[tools.demo]\ncommand = "${program}"\nresume_flag = "--resume"\noutput_format_flag = "--json"\nsession_id_json_path = ".session_id"\nidle_patterns = ["ready"]\n`,
  )
  mkdirSync(join(root, 'project'))
  const run = (command, ...args) => {
    const { status, stderr } = spawnSync(command, args, { env, cwd: join(root, 'project'), encoding: 'utf8' })
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  }
  const skein = (...args) => run(process.execPath, SKEIN, ...args)
  const tmux = (at, ...args) => spawnSync('tmux', ['-S', at, '-f', '/dev/null', ...args], { env, encoding: 'utf8' })
  const areRunning = async () => {
    while (!existsSync(mark) || readFileSync(mark, 'utf8').length < AGENTS) await pause(5)
  }
  /** How long until the last program runs, and until the command is done. */
  const timed = async (start) => {
    rmSync(mark, { force: true })
    appendFileSync(mark, '')
    const from = performance.now()
    const since = () => performance.now() - from
    const [running, done] = await Promise.all([areRunning().then(since), start().then(since)])
    return { running, done }
  }
  const skeinRecover = () =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [SKEIN, 'recover'], { env, cwd: join(root, 'project'), stdio: 'ignore' })
      child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`skein recover ended with ${code}`))))
    })
  const end = (at) => {
    const pid = Number(tmux(at, 'display-message', '-p', '#{pid}').stdout)
    if (pid > 1) process.kill(pid, 'SIGKILL')
  }
  try {
    for (let at = 0; at < AGENTS; at += 1) skein('start', '.', '--agent', `a${at}`, '--tool', 'demo')
    const rows = { byHand: [], proven: [], running: [], recover: [] }
    const identity = ['SKEIN_AGENT', 'SKEIN_ACTOR', 'SKEIN_RUN', 'SKEIN_SESSION'].flatMap((name) => ['-e', `${name}=x`])
    const place = ['-x', '140', '-y', '45', '-c', join(root, 'project'), ...identity]
    const startByHand = async () => {
      for (let at = 0; at < AGENTS; at += 1)
        tmux(bare, 'new-session', '-d', '-s', `b${at}`, ...place, `${program} --resume x`)
    }
    const proveByHand = async () => {
      await startByHand()
      const from = performance.now()
      for (let at = 0; at < AGENTS; at += 1)
        while (!tmux(bare, 'capture-pane', '-p', '-t', `=b${at}:`).stdout.includes('ready')) await pause(5)
      await pause(Math.max(0, PROVEN_MS - (performance.now() - from)))
      const alive = tmux(bare, 'list-panes', '-a', '-F', '#{pane_dead}').stdout.split('\n')
      if (alive.filter((dead) => dead === '0').length !== AGENTS) throw new Error('not all live')
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      rows.byHand.push((await timed(startByHand)).running)
      end(bare)
      await pause(300)
      rows.proven.push((await timed(proveByHand)).done)
      end(bare)
      end(socket)
      await pause(1_000)
      const { running, done } = await timed(skeinRecover)
      rows.running.push(running)
      rows.recover.push(done)
    }
    const ratio = (one, other) => median(rows[one]) / median(rows[other])
    report('recover', [
      ['50 times tmux new-session by hand, until the last runs, ms', median(rows.byHand)],
      ['the same until each has drawn its prompt and lived for 600 ms, ms', median(rows.proven)],
      ['skein recover of 50 agents, until the last runs, ms', median(rows.running)],
      ['skein recover of 50 agents, until all are proven to run, ms', median(rows.recover)],
      ['until all are proven, x by hand with the same proof', ratio('recover', 'proven'), 1.5],
      ['until the last runs, x by hand', ratio('running', 'byHand')],
      ['until all are proven, x by hand without any', ratio('recover', 'byHand')],
    ])
  } finally {
    tmux(bare, 'kill-server')
    tmux(socket, 'kill-server')
  }
})
