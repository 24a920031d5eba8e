import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DAY_MS } from '../../src/model/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

const segmentsOf = (root: string): { name: string; inode: number }[] => {
  const events = join(profileDirectory(root), 'events')
  const names = readdirSync(events).filter((name) => statSync(join(events, name)).isFile())
  return names.sort().map((name) => ({ name, inode: statSync(join(events, name)).ino }))
}

it('Gas Town defect 2: the newest events are kept however old they are', async () => {
  const { home, clock } = await openTestHome(scratch())
  for (let n = 0; n < 150; n += 1) await home.events.append({ type: 'patrol_started', payload: { n } })
  clock.ms += 365 * DAY_MS
  expect((await home.events.prune()).pruned).toBe(50)
  const left = await home.events.read({ type: 'patrol_started' })
  expect(left.map(({ payload }) => payload.n)).toEqual(Array.from({ length: 100 }, (_, n) => n + 50))
  await home[Symbol.asyncDispose]()
})

it('Gas Town defect 3: an event that is appended while events are pruned is kept, and a prune without work rewrites no file', async () => {
  const root = scratch()
  const { home, clock } = await openTestHome(root)
  const { home: other } = await openTestHome(root, clock)
  for (let n = 0; n < 300; n += 1) await home.events.append({ type: 'patrol_started', payload: { n } })
  clock.ms += 30 * DAY_MS
  const appended: string[] = []
  const appending = (async () => {
    for (let n = 0; n < 200; n += 1) appended.push((await other.events.append({ type: 'mail', payload: { n } })).id)
  })()
  const reports = [await home.events.prune(), await home.events.prune(), await home.events.prune()]
  await appending
  expect(reports.reduce((sum, { pruned }) => sum + pruned, 0)).toBeGreaterThan(100)
  expect((await home.events.read({ type: 'mail' })).map(({ id }) => id)).toEqual(appended)
  await home.events.append({ type: 'patrol_started', payload: {} })
  clock.ms += 2 * DAY_MS
  for (let n = 0; n < 100; n += 1) await home.events.append({ type: 'mail', payload: { n } })
  await home.events.prune() // what was among the newest hundred before; the segment with the first mails is sealed
  const before = segmentsOf(root)
  expect(before.length).toBeGreaterThan(1)
  expect((await home.events.prune()).pruned).toBe(0)
  expect(segmentsOf(root)).toEqual(before)
  await other[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

it('Gas Town defect 4: a follower goes on after the files it reads were pruned', async () => {
  const { home, clock } = await openTestHome(scratch())
  for (let n = 0; n < 150; n += 1) await home.events.append({ type: 'patrol_started', payload: { n } })
  const end = new AbortController()
  const seen: unknown[] = []
  const following = (async () => {
    for await (const { payload } of home.events.tail({ type: 'mail', signal: end.signal })) {
      seen.push(payload.n)
      if (seen.length === 6) end.abort()
    }
  })()
  for (let n = 0; n < 6; n += 1) {
    await home.events.append({ type: 'mail', payload: { n } })
    clock.ms += 20 * DAY_MS
    await home.events.prune()
  }
  // One that has gone silent is not waited for.
  const timer = setTimeout(() => end.abort(), 20_000)
  await following
  clearTimeout(timer)
  expect(seen).toEqual([0, 1, 2, 3, 4, 5])
  await home[Symbol.asyncDispose]()
})

it('Gas Town defect 5: times to live are written as people write them, and read back from the file', async () => {
  const root = scratch()
  const { home } = await openTestHome(root)
  const { ttls } = await home.events.setTtl('patrol_*', '36h')
  expect(ttls['patrol_*']).toBe('1d12h')
  const text = readFileSync(join(root, 'config.toml'), 'utf8')
  expect(text).toMatch(/"?patrol_\*"? = "36h"/)
  expect(text).not.toMatch(/\d{6}/) // no nanoseconds
  await expect(home.events.setTtl('mail', '129600000000000')).rejects.toMatchObject({ code: 'bad-config' })
  expect(readFileSync(join(root, 'config.toml'), 'utf8')).toBe(text)
  await home[Symbol.asyncDispose]()
})

it('Gas Town defect 6: what is at risk is counted beside what has expired, and worth comes from the events themselves', async () => {
  const { home, clock } = await openTestHome(scratch())
  for (let n = 0; n < 3; n += 1) await home.events.append({ type: 'handoff', payload: { n } }) // 7 days, steadily
  clock.ms += 5 * DAY_MS
  for (let n = 0; n < 2; n += 1) await home.events.append({ type: 'handoff', payload: { n } })
  clock.ms += 3 * DAY_MS // the first three are 8 days old and expired, the others are 3 days old
  await home.events.append({ type: 'handoff', payload: {} })
  const at = (type: string, all: Awaited<ReturnType<typeof home.events.decay>>): (typeof all)[number] | undefined =>
    all.find((one) => one.type === type)
  expect(at('handoff', await home.events.decay())).toMatchObject({
    events: 6,
    expired: 3,
    at_risk: 0,
    lowest_worth: 0,
    average_worth: Number(((2 * (1 - 3 / 7) + 1) / 6).toFixed(3)),
  })
  clock.ms += 2.5 * DAY_MS // 5.5 days: 21 % of its worth is left
  expect(at('handoff', await home.events.decay())).toMatchObject({ expired: 3, at_risk: 2 })
  expect(await home.events.stats()).toMatchObject({ expired: 3, at_risk: 2 })
  await home[Symbol.asyncDispose]()
})
