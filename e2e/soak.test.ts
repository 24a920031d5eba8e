import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Environment, LOG_TOOLS } from '../src/tools/index.js'
import { ModelServer } from './model-server/model-server.js'
import { NoticeLog } from './notice-log.js'
import { pathWith } from './programs.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

/** `SOAK_SECONDS=300 npm run test:real -- e2e/soak.test.ts` is the whole one. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 15)
const WHOLE_SECONDS = 300
const TICKS_PER_SECOND = 100
const TURNS = 2
const FROZEN_MS = 3_000
const ROUNDS = 3

/** Every file below a directory with its time and bytes; links are not followed. */
function filesBelow(root: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink()) found.set(relative(root, path), readlinkSync(path))
    if (!entry.isFile()) continue
    const bytes = createHash('sha256').update(readFileSync(path)).digest('hex')
    found.set(relative(root, path), `${statSync(path, { bigint: true }).mtimeNs} ${bytes}`)
  }
  return found
}

function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort()
}

/** What Skein reads of the tools: their logs, and what SQLite keeps beside a database. */
function readBySkein(environment: Environment): string[] {
  const logs = LOG_TOOLS.flatMap((tool) => tool.discover(environment)).map(({ path }) => path)
  return logs.flatMap((path) => [path, `${path}-wal`, `${path}-shm`])
}

/** The processes of the programs: all but tmux and Skein. */
function pidsOf(scratch: Scratch): number[] {
  return scratch
    .processes()
    .filter((line) => !/^\d+ (tmux|skein-daemon|.*skein\.js)/.test(line))
    .map((line) => Number.parseInt(line, 10))
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended by itself
  }
}

/** What the system says of a process, from its state on; nothing of one that has ended. */
function statOf(pid: number): string[] {
  const path = `/proc/${pid}/stat`
  return existsSync(path) ? (readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? []) : []
}

/** Processor time of a process so far, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

it(`one idle agent of each tool for ${SECONDS} s: no notice, and no file of a tool is changed`, {
  timeout: (SECONDS + 300) * 1_000,
}, async () => {
  await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Hello to you.' }] }] })
  using scratch = new Scratch('soak')
  const notices = new NoticeLog(scratch)
  const env = REAL_TOOLS.map((tool) => tool.setUp(scratch, server))
  const PATH = pathWith(...REAL_TOOLS.map(({ name }) => name))
  const skein = new Skein(scratch, Object.assign({}, ...env, { PATH }))
  await skein.run('daemon', 'start')
  for (const { name } of REAL_TOOLS) {
    await skein.run('start', '.', '--agent', name, '--tool', name)
    for (let turn = 1; turn <= TURNS; turn += 1)
      await skein.run('send', name, `hello ${turn}`, '--wait', '--timeout', '90s')
    await skein.run('ack', name)
  }
  await notices.reaches(REAL_TOOLS.length * TURNS)
  const { pid } = await skein.run('daemon', 'status')
  // What the programs themselves still write after their last turn, and what the daemon reads of it.
  let before = filesBelow(scratch.home)
  for (let same = 0; same < 3; ) {
    await sleep(1_000)
    const now = filesBelow(scratch.home)
    same = changesBetween(before, now).length === 0 ? same + 1 : 0
    before = now
  }
  const [cpu, begun] = [cpuSeconds(Number(pid)), performance.now()]
  await sleep(SECONDS * 1_000)
  const share = (100 * (cpuSeconds(Number(pid)) - cpu)) / ((performance.now() - begun) / 1_000)
  const changed = changesBetween(before, filesBelow(scratch.home))
  const ours = new Set(
    readBySkein({ home: scratch.home, env: scratch.env() }).map((path) => relative(scratch.home, path)),
  )
  // Programs write a little by themselves, also now: tmux lets those that it runs go on. What we change, we change each time.
  let byUs: string[] = []
  let programs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    programs = pidsOf(scratch)
    for (const program of programs) signal(program, 'SIGSTOP')
    const still = filesBelow(scratch.home)
    for (const command of ['ingest', 'list', 'cost', 'status']) await skein.run(command)
    for (const { name } of REAL_TOOLS) await skein.run('why', name)
    await sleep(FROZEN_MS)
    byUs = changesBetween(still, filesBelow(scratch.home))
    for (const program of programs) signal(program, 'SIGCONT')
    if (byUs.length === 0) break
  }
  const expected = REAL_TOOLS.flatMap(({ name }) => Array.from({ length: TURNS }, () => `${name} finished`))
  console.log(
    `soak of ${SECONDS} s with ${REAL_TOOLS.length} idle agents: daemon ${share.toFixed(2)} % of a core,`,
    `${notices.given.length} notices of ${expected.length} expected, ${before.size} files of tools,`,
    `${byUs.length} changed by Skein, ${changed.length} by the programs: ${changed.join(', ')}`,
  )
  expect([...notices.given].sort()).toEqual([...expected].sort())
  expect(programs.length).toBeGreaterThanOrEqual(REAL_TOOLS.length)
  expect(byUs).toEqual([])
  expect(changed.filter((name) => ours.has(name))).toEqual([])
  for (const { name } of REAL_TOOLS) expect(await skein.agent(name)).toMatchObject({ status: 'idle' })
  // Of a short one the first looks are a large part.
  if (SECONDS >= WHOLE_SECONDS) expect(share).toBeLessThan(1)
})
