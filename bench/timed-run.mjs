// Runs a program to its end and says what it cost. CPU is user and system time of all its threads, its start included.
import { spawnSync } from 'node:child_process'

/** Node cannot ask for the resources of a child; the shell's own `time` can, to the millisecond. */
export function timedRun(argv) {
  const script = 'TIMEFORMAT="TIMED %U %S %R"; time "$@" > /dev/null'
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], {
    encoding: 'utf8',
  })
  const [, user, system, wall] = /TIMED (\S+) (\S+) (\S+)/.exec(stderr) ?? []
  if (status !== 0 || wall === undefined) throw new Error(`${argv.join(' ')} failed (${status}): ${stderr}`)
  return { cpuMs: (Number(user) + Number(system)) * 1000, wallMs: Number(wall) * 1000 }
}

/** Every program once per round, so that a busy machine is busy for all of them. Returns medians. */
export function interleaved(programs, rounds) {
  const runs = new Map(Object.keys(programs).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(programs)) runs.get(name).push(run())
  }
  return Object.fromEntries(
    [...runs].map(([name, all]) => [
      name,
      { cpuMs: median(all.map((run) => run.cpuMs)), wallMs: median(all.map((run) => run.wallMs)) },
    ]),
  )
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}
