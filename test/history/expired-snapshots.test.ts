import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isTidyDue, tidySnapshots } from '../../src/daemon/intake/tidy-snapshots.js'
import type { Home } from '../../src/home/index.js'
import { type } from '../cli/typed.js'
import { profilesUnder } from '../cli/world.js'
import { openTestHome, scratch } from '../home/scratch.js'

const DAY_MS = 86_400_000

/** A session of a program without a log, whose turns were captured: five in each of two hours. */
async function capturedSession(home: Home, id: string): Promise<{ startMs: number }> {
  const root = join(scratch(), 'project')
  mkdirSync(root)
  execFileSync('git', ['init', '-q'], { cwd: root, env: { PATH: process.env.PATH, HOME: root } })
  await home.sessions.start({ id, cwd: root, source: 'run' })
  const startMs = Date.now()
  for (let turn = 1; turn <= 5; turn += 1) {
    const at = (second: number): string => new Date(startMs + turn * 60_000 + second * 1_000).toISOString()
    const payload = { turn, at: at(0) }
    await home.events.append({ type: 'turn_began', session: id, payload })
    await home.events.append({ type: 'turn_ended', session: id, payload: { at: at(30), how: 'finished' } })
    const take = (moment: 'prompt' | 'stop', second: number) =>
      home.snapshots.capture({ directory: root, session: id, moment, asOfMs: Date.parse(at(second)) })
    await take('prompt', 0)
    writeFileSync(join(root, 'a.txt'), `turn ${turn}\n`)
    await take('stop', 30)
  }
  return { startMs }
}

const keptTurns = async (home: Home, id: string): Promise<number[]> =>
  (await home.history.codedTurns(id)).filter(({ before, after }) => before && after).map(({ turn }) => turn)

it('pinned, noted, forked and handed-off turns are kept, and nothing else but the newest', async () => {
  const { home } = await openTestHome(scratch(), { ms: Date.now() })
  await using _open = home
  const { startMs } = await capturedSession(home, 's-1')
  await capturedSession(home, 's-2')
  expect(await keptTurns(home, 's-1')).toEqual([1, 2, 3, 4, 5])
  await home.sessions.markTurn('s-1', 1, { pinned: true })
  await home.sessions.markTurn('s-1', 2, { note: 'the good one' })
  await home.sessions.start({ id: 'fork', forked_from: { session: 's-1', turn: 4 } })
  await home.sessions.handoff('s-2', { id: 'next' })
  expect(await tidySnapshots(home, startMs + 10 * DAY_MS)).toBeUndefined()
  expect(await keptTurns(home, 's-1')).toEqual([1, 2, 3, 4, 5])
  await tidySnapshots(home, startMs + 100 * DAY_MS)
  expect(await keptTurns(home, 's-1')).toEqual([1, 2, 4])
  const left = await home.snapshots.list('s-2')
  expect(left.map(({ moment, seq }) => [moment, seq])).toEqual([['stop', 10]])
  await home.sessions.markTurn('s-1', 1, { pinned: false })
  await tidySnapshots(home, startMs + 100 * DAY_MS)
  expect(await keptTurns(home, 's-1')).toEqual([2, 4])
  expect((await home.snapshots.verify({ full: true })).every(({ problems }) => problems.length === 0)).toBe(true)
})

it('the budget is warned about at half, once, until less is used, by whichever daemon comes next', async () => {
  const root = scratch()
  const { home } = await openTestHome(root, { ms: Date.now() })
  await using _open = home
  await capturedSession(home, 's-1')
  const bytes = (await home.snapshots.stats()).reduce((sum, one) => sum + one.bytes, 0)
  const budget = (most: number): void =>
    writeFileSync(join(root, 'config.toml'), `[turns]\nmax_disk = "${Math.round(most / 1_000)}KB"\n`)
  const warned = async (): Promise<number> => (await home.events.read({ type: 'snapshots_warned' })).length
  const now = Date.now()
  budget(bytes * 3)
  expect(isTidyDue(home, now)).toBe(true)
  expect(await tidySnapshots(home, now)).toBeUndefined()
  expect([isTidyDue(home, now + 60_000), isTidyDue(home, now + 2 * 3_600_000), isTidyDue(home, now - 60_000)]).toEqual([
    false,
    true,
    true,
  ])
  budget(Math.floor(bytes * 1.5))
  // The doctor looks for itself: the last upkeep may be an hour old.
  const doctor = await type(['doctor'], { profiles: profilesUnder(root) })
  expect(doctor).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Snapshots take \d+ MB/m) })
  expect(await tidySnapshots(home, now)).toMatch(/^Snapshots take \d+ MB of \d+ MB \(turns\.max_disk\)/)
  expect(await tidySnapshots(home, now)).toBeUndefined()
  expect(await warned()).toBe(1)
  budget(bytes * 3)
  await tidySnapshots(home, now)
  budget(Math.floor(bytes * 1.5))
  expect(await tidySnapshots(home, now)).toMatch(/^Snapshots take/)
  expect(await warned()).toBe(2)
})
