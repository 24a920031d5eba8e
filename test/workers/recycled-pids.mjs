// Kills agents, their tmux server and the daemon, gives each of their pids to a foreign look-alike, does one thing with Skein, and prints
// as JSON what became of the look-alikes. Run in a pid namespace of its own, below a shell that buries what nobody waits for.
// argv: directory, what was killed: program | server, then the words of one command
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const [directory, killed, ...words] = process.argv.slice(2)
const BINARY = fileURLToPath(new URL('../../bin/skein.js', import.meta.url))
const project = join(directory, 'project')
const home = join(directory, 'home')
const program = join(directory, 'scripted')
for (const path of [project, home]) mkdirSync(path)
writeFileSync(
  program,
  `#!/bin/sh
if [ "$1" = --json ]; then echo '{"session_id":"00000000-0000-4000-8000-000000000001"}'; exit 0; fi
sleep 1000000 &
printf '> '
while read -r line; do printf '%s\\n> ' "$line"; done
`,
)
chmodSync(program, 0o700)
const socket = join(directory, 'tmux.sock')
writeFileSync(
  join(home, 'config.toml'),
  `[tools.scripted]
command = "${program}"
resume_flag = "--resume"
output_format_flag = "--json"
session_id_json_path = ".session_id"
idle_patterns = ["re:^>"]
[daemon]
autostart = false
ingest = false
[notify]
by = []
[tmux]
socket = "${socket}"
[recover]
spacing = 0
[watchdog]
respawn = "on-crash"
backoff = "1s"
`,
)
const env = { PATH: process.env.PATH, HOME: directory, SKEIN_HOME: home }
const skein = (...args) => spawnSync(process.execPath, [BINARY, ...args], { env, cwd: project, encoding: 'utf8' })
const must = (...args) => {
  const { status, stdout, stderr } = skein(...args)
  if (status !== 0) throw new Error(`skein ${args.join(' ')}: ${stderr}`)
  return stdout
}
/** The test has the limit. */
const until = async (isSo) => {
  while (!isSo()) await sleep(20)
}
const statOf = (pid) => {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=\w )/)
    const fields = rest.split(' ')
    return { state: fields[0], session: Number(fields[3]), starttime: fields[19] }
  } catch {
    return undefined
  }
}
/** Until nothing is left of a process. tmux, as built with libutempter, misses some deaths until it hears of another. */
const untilBuried = (pid) =>
  until(() => {
    const stat = statOf(pid)
    if (stat?.state === 'Z' && statOf(run.server.pid) !== undefined) process.kill(run.server.pid, 'SIGCHLD')
    return stat === undefined
  })
const runOf = () => {
  const folder = join(home, 'profiles/default/agents')
  const [name] = readdirSync(folder).filter((one) => one.endsWith('.json'))
  return JSON.parse(readFileSync(join(folder, name), 'utf8')).run
}

/** Another program of the same name under a pid that has ended, with a session of its own and a child; it writes down every signal. */
async function lookAlike(name, pid) {
  await untilBuried(pid)
  const seen = join(directory, `signals-of-${name}`)
  const traps = ['HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'TERM', 'CONT'].map(
    (one) => `trap 'echo ${one} >> ${seen}' ${one}`,
  )
  const body = `${traps.join('\n')}\nsleep 1000000 &\necho up > ${seen}\nwhile :; do wait; sleep 0.05; done`
  // A number stays taken while anything is in the session or group that is named by it, which may still be ending, and while another
  // process or thread has got it first.
  for (;;) {
    await untilBuried(pid)
    rmSync(seen, { force: true })
    writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1))
    const child = spawn('sh', ['-c', body], { argv0: name, detached: true, stdio: 'ignore', env: { PATH: env.PATH } })
    if (child.pid === pid) {
      await until(
        () => readdirSync(directory).includes(`signals-of-${name}`) && readFileSync(seen, 'utf8').includes('up'),
      )
      const { starttime } = statOf(pid)
      return {
        name,
        pid,
        isUntouched: () => statOf(pid)?.starttime === starttime && readFileSync(seen, 'utf8') === 'up\n',
      }
    }
    process.kill(-child.pid, 'SIGKILL')
    await once(child, 'exit')
  }
}

must('start', '.', '--agent', 'toast', '--tool', 'scripted')
must('daemon', 'start')
const daemon = JSON.parse(must('daemon', 'status', '--json')).pid
const run = runOf()
const isWatched = words[0] === 'watchdog'
const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
const marked = processes().filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`SKEIN_RUN=${run.id}`)
  } catch {
    return false
  }
})
const dead = [...marked, ...(killed === 'server' ? [run.server.pid] : [])]
// The daemon that has to see the death sees it when the look-alikes are there: what it starts would take their pids.
process.kill(daemon, isWatched ? 'SIGSTOP' : 'SIGKILL')
const killIfThere = (pid) => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // gone with its parent
  }
}
for (const pid of dead) killIfThere(pid)
// A client of tmux that it has left behind waits for the next daemon; as long as it is in the session of this one, its number is taken.
if (!isWatched) for (const pid of processes()) if (statOf(pid)?.session === daemon) killIfThere(pid)
if (killed === 'server') rmSync(socket, { force: true })
const strangers = [await lookAlike('scripted', run.pid)]
if (killed === 'server') strangers.push(await lookAlike('tmux', run.server.pid))
if (!isWatched) strangers.push(await lookAlike('skein-daemon', daemon))

let status = 0
let said = ''
if (isWatched) {
  process.kill(daemon, 'SIGCONT')
  await until(() => runOf().id !== run.id && runOf().ended_at === undefined)
  must('stop', 'toast')
} else {
  const ran = skein(...words)
  status = ran.status
  said = `${ran.stdout}${ran.stderr}`
}
must('list')
const now = runOf()
const isUp = now.ended_at === undefined
must('down', '--all', '--graceful', '200ms')
const result = { status, said, isUp, isNew: now.id !== run.id }
process.stdout.write(
  JSON.stringify({ ...result, untouched: strangers.filter((one) => one.isUntouched()).map(({ name }) => name) }),
)
try {
  execFileSync('tmux', ['-S', socket, 'kill-server'], { stdio: 'ignore' })
} catch {
  // gone with its last agent
}
process.exit(0)
