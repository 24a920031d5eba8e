// A user waits for an agent to come up, so what we add to tmux must not be felt: from typing `skein start` to the moment the tool's own
// process runs, against a bare `tmux new-session -d` of the same command. The program writes down the time as its first act.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch, median, report } from './measure.mjs'

const SKEIN = fileURLToPath(new URL('../bin/skein.js', import.meta.url))
const ROUNDS = 15
/** What may come on top of one and a half times the bare start. */
const ALLOWANCE_MS = 150

await inScratch(async (root) => {
  const mark = join(root, 'mark')
  const program = join(root, 'program.sh')
  const bare = join(root, 'bare.sock')
  const env = { ...process.env, SKEIN_HOME: root, HOME: root }
  writeFileSync(program, `date +%s%N > ${mark}.part && mv ${mark}.part ${mark}\necho ready\nexec sleep 600\n`)
  writeFileSync(
    join(root, 'config.toml'),
    `[daemon]\nautostart = false\n\n[tools.demo]\ncommand = "sh ${program}"\nidle_patterns = ["ready"]\n`,
  )
  mkdirSync(join(root, 'project'))
  const tmux = (socket, ...args) => spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env })
  try {
    tmux(bare, 'new-session', '-d', '-s', 'keep', 'sleep 600')
    await timed(mark, () => skein(env, 'start', join(root, 'project'), '--agent', 'first', '--tool', 'demo'))
    const rows = { bare: [], start: [], restart: [] }
    // One of each after another: the machine may be busier a minute later.
    for (let round = 0; round < ROUNDS; round += 1) {
      rows.bare.push(
        await timed(mark, () => run(env, 'tmux', '-S', bare, 'new-session', '-d', '-s', `b${round}`, `sh ${program}`)),
      )
      const agent = ['--agent', `a${round}`, '--tool', 'demo']
      rows.start.push(await timed(mark, () => skein(env, 'start', join(root, 'project'), ...agent)))
      rows.restart.push(await timed(mark, () => skein(env, 'restart', `a${round}`)))
    }
    const limit = 1.5 * median(rows.bare) + ALLOWANCE_MS
    report('launch', [
      ['bare tmux new-session to the process running, ms', median(rows.bare)],
      ['skein start to the process running, ms', median(rows.start), limit],
      ['skein restart to the process running, ms', median(rows.restart), limit],
    ])
  } finally {
    tmux(bare, 'kill-server')
    tmux(join(root, 'tmux.sock'), 'kill-server')
  }
})

function skein(env, ...args) {
  return run(env, process.execPath, SKEIN, ...args)
}

function run(env, command, ...args) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.on('exit', resolve))
}

/** From the call to what the program wrote down; then until the command has ended. */
async function timed(mark, start) {
  const from = Date.now()
  const ended = start()
  while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 5))
  const at = Number(BigInt(readFileSync(mark, 'utf8').trim()) / 1_000_000n)
  rmSync(mark)
  await ended
  return at - from
}
