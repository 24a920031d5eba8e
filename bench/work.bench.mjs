// Work that is done stays for 90 days: a busy team has a hundred thousand closed units beside the fifty it works on. Agents wait for what
// they are told at their start, and people for the list, so neither may depend on what is closed. The reference is the same home without
// the closed units, in the same run.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHome } from '../dist/library.js'
import { inScratch, median, report } from './measure.mjs'

const SKEIN = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')
const CLOSED = Number(process.env.SKEIN_BENCH_CLOSED ?? 100_000)
const OPEN = 50
const ROUNDS = 25
const AT_ONCE = 500
const MESSAGE = JSON.stringify({
  hook_event_name: 'SessionStart',
  session_id: '11111111-1111-4111-8111-111111111111',
  source: 'startup',
  cwd: '/tmp',
})

await inScratch(async (root) => {
  const few = await made(join(root, 'few'), 0)
  const many = await made(join(root, 'many'), CLOSED)
  const commands = {
    'skein work list': ['work', 'list'],
    'skein work list --agent': ['work', 'list', '--agent', 'web/bench'],
    'skein prime --hook': ['prime', '--hook'],
    'skein work hook': ['work', 'hook', undefined, 'web/bench'],
  }
  const rows = Object.entries(commands).map(([name, args]) => {
    const times = { few: [], many: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      times.few.push(timed(few, args, round))
      times.many.push(timed(many, args, round))
    }
    const [before, after] = [median(times.few), median(times.many)]
    const note = `(${after.toFixed(0)} ms and ${before.toFixed(0)} ms)`
    return [`${name}: x without the ${CLOSED} closed units`, after / before, 1.25, note]
  })
  report('work', rows)
})

/** A home with an agent, fifty units of which one is on its hook, and so many that it has done. */
async function made(root, closed) {
  mkdirSync(root)
  const home = await openHome({ home: root, onWarning: () => {} })
  const { address, id } = await home.roster.add({ address: 'web/bench', tool: 'claude' })
  for (let from = 0; from < closed; from += AT_ONCE) {
    const titles = Array.from({ length: Math.min(AT_ONCE, closed - from) }, (_, n) => `Closed ${from + n}`)
    const units = await Promise.all(titles.map((title) => home.work.add({ title })))
    await Promise.all(units.map((unit) => home.work.hook(unit.id, { address, id })))
    await Promise.all(units.map((unit) => home.work.close(unit.id, { status: 'done' })))
  }
  const open = []
  for (let n = 0; n < OPEN; n += 1) open.push((await home.work.add({ title: `Open ${n}`, priority: n % 5 })).id)
  await home.work.hook(open[0], { address, id })
  await home[Symbol.asyncDispose]()
  return { root, open }
}

function timed({ root, open }, args, round) {
  const env = { ...process.env, HOME: root, SKEIN_HOME: root, SKEIN_AGENT: 'web/bench' }
  const words = args.map((word) => word ?? open[1 + (round % (OPEN - 1))])
  const from = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [SKEIN, ...words], { env, input: MESSAGE })
  const taken = performance.now() - from
  if (status !== 0) throw new Error(`skein ${words.join(' ')} failed: ${stderr}`)
  return taken
}
