import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'
import { seededRandom, someTime } from '../support/random.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'change.mjs')

interface Worker {
  process: ChildProcess
  acknowledged: string[]
  firstLine: Promise<unknown>
  ended: Promise<number | null>
  errors: string
}

function startWorker(root: string, name: string, count: number): Worker {
  const child = spawn(process.execPath, [WORKER, root, name, String(count)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const worker: Worker = {
    process: child,
    acknowledged: [],
    errors: '',
    firstLine: Promise.resolve(),
    ended: Promise.resolve(null),
  }
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => worker.acknowledged.push(line))
  worker.firstLine = new Promise((resolve) => lines.once('line', resolve).once('close', resolve))
  child.stderr.on('data', (text: Buffer) => {
    worker.errors += text.toString()
  })
  worker.ended = Promise.all([
    new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code))),
    new Promise((resolve) => lines.on('close', resolve)),
  ]).then(([code]) => code)
  return worker
}

/** What a worker was told is saved, and is not there. */
async function missing(home: Home, acknowledged: readonly string[]): Promise<string[]> {
  const events = new Set((await home.events.read()).map((event) => event.id as string))
  const agents = new Set((await home.roster.agents()).map((agent) => agent.address as string))
  const lost: string[] = []
  for (const line of acknowledged) {
    const [kind = '', first = '', second = ''] = line.split(' ')
    const session = kind === 'agent' || kind === 'event' ? undefined : await home.sessions.get(first)
    const isThere = {
      agent: () => agents.has(first),
      event: () => events.has(first),
      session: () => session !== undefined,
      branch: () => session?.branch === second,
      handoff: () => session?.child_id === second && session.outcome === 'handoff',
    }[kind]
    if (!isThere?.()) lost.push(line)
  }
  return lost
}

it('8 processes making 500 changes each at once lose none of them', async () => {
  const root = scratch()
  const workers = Array.from({ length: 8 }, (_, n) => startWorker(root, `w${n}`, 500))
  expect(await Promise.all(workers.map((worker) => worker.ended))).toEqual(Array(8).fill(0))
  expect(workers.map((worker) => worker.errors).join('')).toBe('')
  const acknowledged = workers.flatMap((worker) => worker.acknowledged)
  expect(acknowledged).toHaveLength(4_000)

  const { home, warnings } = await openTestHome(root, { ms: Date.now() })
  expect(await missing(home, acknowledged)).toEqual([])
  const check = await home.index.check()
  expect(check).toMatchObject({ ok: true, problems: [], unreadable_lines: 0, agents: 800, sessions: 1_600 })
  expect(check.events).toBe(4_000 + 800) // a handoff is two events
  await home[Symbol.asyncDispose]()
  expect(warnings).toEqual([])
})

it('300 kills at random moments lose nothing that was acknowledged', async () => {
  const random = seededRandom()
  const root = scratch()
  const acknowledged: string[] = []
  const errors: string[] = []
  let rounds = 0
  let written = 0
  const next = async (): Promise<void> => {
    while (rounds < 300) {
      rounds += 1
      const worker = startWorker(root, `r${rounds}`, 0)
      // Most are hit in the midst of their work, some while they open the home.
      if (rounds % 6 !== 0) await worker.firstLine
      await someTime(random, 60)
      worker.process.kill('SIGKILL')
      await worker.ended
      acknowledged.push(...worker.acknowledged)
      if (worker.acknowledged.length > 0) written += 1
      if (worker.errors) errors.push(worker.errors)
      if (rounds % 100 === 0) {
        const { home } = await openTestHome(root, { ms: Date.now() })
        expect((await home.index.check()).problems).toEqual([])
        await home[Symbol.asyncDispose]()
      }
    }
  }
  await Promise.all([next(), next(), next()])
  const { home } = await openTestHome(root, { ms: Date.now() })
  expect(await missing(home, acknowledged)).toEqual([])
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
  expect(errors).toEqual([])
  expect(written).toBeGreaterThan(100) // else the kills came too early to prove anything
  console.log(`300 kills, ${written} of them while writing, ${acknowledged.length} acknowledged changes, all there`)
}, 300_000)
