// A developer's agents wait for her most of the day, so watching them must cost nothing. 100 idle agents, half of which register what
// they do and half of which tell it by hooks, watched for a minute in a process namespace of their own: there the kernel's last pid
// tells how many processes and threads were started, and every process is ours.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Herd } from './herd.mjs'
import { inScratch, report } from './measure.mjs'

const AGENTS = 100
const KINDS = [
  { tool: 'claude', source: 'registry' },
  { tool: 'codex', source: 'hook' },
]
const SECONDS = 60
const TICKS_PER_SECOND = 100

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
    await herd.fill(Array.from({ length: AGENTS }, (_, at) => KINDS[at % KINDS.length]))
    try {
      const { pid } = herd.startDaemon()
      await pause(5) // the first look, and the first reading of logs, are over
      const before = { lastPid: lastPid(), cpu: cpuOfAll() }
      await pause(SECONDS)
      const after = { lastPid: lastPid(), cpu: cpuOfAll() }
      const ours = processes().filter(({ id, parent }) => id === pid || parent === pid)
      const share = ((after.cpu - before.cpu) / TICKS_PER_SECOND / SECONDS) * 100
      report('idle-agents', [
        [`processes and threads started in ${SECONDS} s`, after.lastPid - before.lastPid, 0],
        ['daemon and tmux, % of a core', share, 1],
        ['memory of the daemon and its connections, MB', ours.reduce((sum, { rss }) => sum + rss, 0) / 1e6, 150],
      ])
    } finally {
      herd.end()
    }
  })
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
}

/** The pid given out last in this namespace. */
function lastPid() {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1))
}

/** Clock ticks of every process here but this one: the daemon, its tmux connections, the server, and programs that sleep. */
function cpuOfAll() {
  const others = processes().filter(({ id }) => id !== process.pid)
  return others.reduce((sum, { ticks }) => sum + ticks, 0)
}

function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return [
          {
            id: Number(name),
            parent: Number(fields[1]),
            ticks: Number(fields[11]) + Number(fields[12]),
            rss: Number(fields[21]) * 4096,
          },
        ]
      } catch {
        return []
      }
    })
}
