// Starts a program with all kinds of offspring beside programs that are none of it, ends it, and prints as JSON what was found and
// what lives on. Run as the first process of a pid namespace, so that nothing else is in reach.
// argv: directory, case: all | root-dead | other-life
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endTree, processTree } from '../../dist/terminal.js'

const [directory, what] = process.argv.slice(2)
const OFFSPRING = `
here=$1
note() { echo $2 > "$here/$1"; }
sleep 601 & note child $!
sh -c 'sleep 602 & echo $! > "$0/grandchild"; wait' "$here" &
setsid sh -c 'echo $$ > "$0/own-session"; exec sleep 603' "$here" &
( sleep 604 & echo $! > "$here/orphan" )
( setsid sh -c 'echo $$ > "$0/daemon"; exec sleep 605' "$here" & )
sh -c 'trap "" TERM; echo $$ > "$0/stubborn"; while :; do sleep 1; done' "$here" &
sh -c 'echo $$ > "$0/stopped"; kill -STOP $$; exec sleep 606' "$here" &
sh -c 'trap "sleep 607 & echo \\$! > \\"$0/late\\"; exit" TERM; echo $$ > "$0/spawner"; while :; do sleep 0.05; done' "$here" &
note root $$
if [ "$2" = root-dead ]; then sleep 1; exit 0; fi
while :; do sleep 1; done
`
const marked = (mark) => ({ PATH: process.env.PATH, ...mark })
const root = spawn('sh', ['-c', OFFSPRING, 'sh', directory, what], {
  detached: true,
  stdio: 'ignore',
  env: marked({ SKEIN_RUN: 'run-1' }),
})
const strangers = {
  'other-run': { SKEIN_RUN: 'run-10' },
  'like-a-mark': { NOT_SKEIN_RUN: 'run-1', TEXT: 'SKEIN_RUN=run-1' },
  unmarked: {},
}
for (const [name, env] of Object.entries(strangers)) {
  const { pid } = spawn('sleep', ['608'], { detached: true, stdio: 'ignore', env: marked(env) })
  writeFileSync(join(directory, name), String(pid))
}
const startOf = (pid) =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19],
  )
const stateOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0]
  } catch {
    return 'gone'
  }
}
const owner = { pid: root.pid, starttime: startOf(root.pid) }
const wanted = ['child', 'grandchild', 'own-session', 'orphan', 'daemon', 'stubborn', 'stopped', 'spawner', 'root']
const pidOf = (name) => Number(readFileSync(join(directory, name), 'utf8'))
while (!wanted.every((name) => existsSync(join(directory, name)) && pidOf(name) > 0)) await sleep(20)
while (stateOf(pidOf('stopped')) !== 'T') await sleep(20)
if (what === 'root-dead') while (!['Z', 'gone'].includes(stateOf(root.pid))) await sleep(20)
if (what === 'other-life') owner.starttime += 1

const mark = what === 'other-life' ? undefined : 'SKEIN_RUN=run-1'
const names = () =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => pidOf(name) > 0)
      .map((name) => [pidOf(name), name]),
  )
const found = Object.fromEntries(
  processTree(owner, mark).flatMap(({ pid, by }) => (names()[pid] ? [[names()[pid], by]] : [])),
)
const left = await endTree(owner, { graceMs: 300, mark })
const alive = Object.entries(names())
  .filter(([pid]) => !['Z', 'gone'].includes(stateOf(Number(pid))))
  .map(([, name]) => name)
console.log(JSON.stringify({ found, left: left.length, alive: alive.sort() }))
process.exit(0)
