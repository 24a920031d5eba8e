// What both versions cost, each in turn with the other and in the same minutes: CPU (user and system) and wall time, medians.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../measure.mjs'

const COMMANDS = {
  'start-up (--version)': ['--version'],
  statusline: ['statusline'],
  'sessions list': ['sessions', 'list'],
  'sessions list --json': ['sessions', 'list', '--json'],
  list: ['list'],
  status: ['status'],
  search: ['search', 'mutex', 'lock'],
  cost: ['cost'],
  'session step (one change)': ['session', 'step', 'start', 'timed', '5e8fa07b-active'],
  'ingest, nothing new': ['ingest'],
}

/** In the home of the two programs, as it is. */
export function compareTimes(older, newer, rounds) {
  const rows = Object.entries(COMMANDS).map(([name, args]) => {
    const once = (program) => cost(program, args)
    return row(
      name,
      alternate(
        rounds,
        () => once(older),
        () => once(newer),
      ),
    )
  })
  const fresh = (program) => () => {
    rmSync(join(program.home, 'skein', 'profiles'), { recursive: true, force: true })
    return cost(program, ['ingest'])
  }
  const kept = `${older.home}-kept`
  cpSync(join(older.home, 'skein'), kept, { recursive: true })
  rows.push(row('ingest from nothing', alternate(Math.ceil(rounds / 4), fresh(older), fresh(newer))))
  rmSync(join(older.home, 'skein'), { recursive: true, force: true })
  cpSync(kept, join(older.home, 'skein'), { recursive: true })
  rmSync(kept, { recursive: true, force: true })
  const rebuild = (program) => () => cost(program, ['index', 'rebuild'])
  rows.push(row('index rebuild', alternate(Math.ceil(rounds / 2), rebuild(older), rebuild(newer))))
  console.log(
    `\n${'ms, medians'.padEnd(28)}${'CPU old'.padStart(9)}${'new'.padStart(9)}${'ratio'.padStart(8)}${'wall old'.padStart(10)}${'new'.padStart(9)}${'ratio'.padStart(8)}`,
  )
  for (const line of rows) console.log(line)
}

/** Warm-up first, and who begins changes with each round. */
function alternate(rounds, one, other) {
  one()
  other()
  const taken = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const turns = round % 2 === 0 ? [0, 1] : [1, 0]
    for (const turn of turns) taken[turn].push(turn === 0 ? one() : other())
  }
  return taken
}

function cost(program, args) {
  const script = 'TIMEFORMAT="TIMED %U %S %R"; time "$@" > /dev/null'
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...program.argv(args)], {
    cwd: join(program.home, 'project'),
    env: program.env,
    encoding: 'utf8',
  })
  const [, user, system, wall] = /TIMED (\S+) (\S+) (\S+)/.exec(stderr) ?? []
  if (wall === undefined) throw new Error(`skein ${args.join(' ')}: ${stderr}`)
  return { cpu: (Number(user) + Number(system)) * 1000, wall: Number(wall) * 1000 }
}

function row(name, [old, now]) {
  const cells = ['cpu', 'wall'].map((kind) => {
    const [before, after] = [old, now].map((all) => median(all.map((one) => one[kind])))
    return `${before.toFixed(1).padStart(kind === 'cpu' ? 9 : 10)}${after.toFixed(1).padStart(9)}${(after / before).toFixed(3).padStart(8)}`
  })
  return `${name.padEnd(28)}${cells.join('')}`
}
