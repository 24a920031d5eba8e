// After a reboot a user waits for all agents: `skein recover` of 50 without spacing, from typing it to the last program running, against
// 50 times `tmux new-session -d` of the same program by hand. The programs write down that they run.
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch, median, report } from './measure.mjs'

const SKEIN = fileURLToPath(new URL('../bin/skein.js', import.meta.url))
const AGENTS = 50
const ROUNDS = 3

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
  const timed = async (start) => {
    rmSync(mark, { force: true })
    appendFileSync(mark, '')
    const from = performance.now()
    start()
    while (!existsSync(mark) || readFileSync(mark, 'utf8').length < AGENTS)
      await new Promise((resolve) => setTimeout(resolve, 5))
    return performance.now() - from
  }
  const end = (at) => {
    const pid = Number(tmux(at, 'display-message', '-p', '#{pid}').stdout)
    if (pid > 1) process.kill(pid, 'SIGKILL')
  }
  try {
    for (let at = 0; at < AGENTS; at += 1) skein('start', '.', '--agent', `a${at}`, '--tool', 'demo')
    const rows = { byHand: [], recover: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      const byHand = () => {
        for (let at = 0; at < AGENTS; at += 1) tmux(bare, 'new-session', '-d', '-s', `b${at}`, `${program} --resume x`)
      }
      rows.byHand.push(await timed(byHand))
      end(bare)
      end(socket)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      rows.recover.push(await timed(() => skein('recover')))
    }
    report('recover', [
      ['50 times tmux new-session by hand, ms', median(rows.byHand)],
      ['skein recover of 50 agents, ms', median(rows.recover), 1.5 * median(rows.byHand)],
      ['ratio', median(rows.recover) / median(rows.byHand), 1.5],
    ])
  } finally {
    tmux(bare, 'kill-server')
    tmux(socket, 'kill-server')
  }
})
