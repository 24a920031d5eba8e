import { execFile } from 'node:child_process'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/model/index.js'
import { openTestHome, profileDirectory, scratch, type TestHome } from '../home/scratch.js'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')
const run = promisify(execFile)

async function openAt(root: string, ms: number): Promise<TestHome> {
  writeFileSync(join(root, 'config.toml'), '[events]\nmin_retain = 0\n')
  return openTestHome(root, { ms })
}

async function mailed(root: string, ms: number, count: number): Promise<void> {
  const { home } = await openAt(root, ms)
  for (let n = 0; n < count; n += 1) await home.events.append({ type: 'mail', payload: { n } })
  await home[Symbol.asyncDispose]()
}

async function prunedAt(root: string, ms: number, auto = false): Promise<number> {
  const { home } = await openAt(root, ms)
  const { pruned } = await home.events.prune({ auto })
  await home[Symbol.asyncDispose]()
  return pruned
}

const setChanged = (root: string, ms: number): void => {
  const directory = join(profileDirectory(root), 'events')
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), ms / 1_000, ms / 1_000)
}

describe('the age of an event counts from when it was written', () => {
  const then = Date.UTC(2026, 0, 17)
  const ttl = 30 * DAY_MS

  it('also where its writer’s clock was behind, in a journal that others write', async () => {
    const root = scratch()
    await mailed(root, then, 3)
    await mailed(root, then - 400 * DAY_MS, 5)
    expect(await prunedAt(root, then + DAY_MS)).toBe(0)
    expect(await prunedAt(root, then + ttl + 2 * DAY_MS)).toBe(8)
  })

  it('also where every writer’s clock was behind, and only the file system’s was right', async () => {
    const root = scratch()
    await mailed(root, Date.now() - 400 * DAY_MS, 5)
    expect(await prunedAt(root, Date.now())).toBe(0)
    setChanged(root, Date.now() - ttl - 2 * DAY_MS)
    expect(await prunedAt(root, Date.now())).toBe(5)
  })

  it('also where it says that it happened long ago', async () => {
    const root = scratch()
    const { home } = await openAt(root, then)
    await home.events.append({ type: 'mail', ts: '2020-01-01T00:00:00.000Z' as never })
    expect((await home.events.prune()).pruned).toBe(0)
    expect(await home.events.stats()).toMatchObject({ expired: 0, by_age: { '30d+': 1 } })
    await home[Symbol.asyncDispose]()
  })

  it('also where somebody wrote while the clock was ahead: what came later is not kept until then', async () => {
    const root = scratch()
    await mailed(root, Date.UTC(2090, 0, 1), 1)
    await mailed(root, then, 4)
    setChanged(root, then)
    expect(await prunedAt(root, then + DAY_MS)).toBe(0)
    expect(await prunedAt(root, then + ttl + DAY_MS)).toBe(5)
  })

  it('and is the same after a prune has written a segment anew', async () => {
    const root = scratch()
    const at = Date.now() - 40 * DAY_MS
    const { home } = await openAt(root, at)
    await home.events.append({ type: 'mail' })
    await home.events.append({ type: 'mass_death' })
    await home[Symbol.asyncDispose]()
    setChanged(root, at)
    expect(await prunedAt(root, Date.now())).toBe(1)
    expect(await prunedAt(root, Date.now() + 51 * DAY_MS)).toBe(1)
  })
})

describe('automatic pruning', () => {
  const hour = 3_600_000
  const then = Date.UTC(2026, 0, 17)

  it('goes on after a run while the clock was ahead', async () => {
    const { home, clock } = await openAt(scratch(), then)
    await home.events.append({ type: 'mail' })
    clock.ms = Date.UTC(2090, 0, 1)
    await home.events.prune()
    clock.ms = then + 2 * hour
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: false })
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: true })
    clock.ms += hour
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: false })
    await home[Symbol.asyncDispose]()
  })

  it('takes nothing because of one command that ran while the clock was ahead', async () => {
    const { home, clock } = await openAt(scratch(), then)
    await home.events.append({ type: 'mail' })
    clock.ms = Date.UTC(2090, 0, 1)
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: true })
    expect(await home.events.read()).toHaveLength(1)
    await home[Symbol.asyncDispose]()
  })

  it('waits a while after a leap of the clock, and then believes it', async () => {
    const { home, clock } = await openAt(scratch(), then)
    await home.events.append({ type: 'mail' })
    clock.ms = then + 90 * DAY_MS
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: true })
    clock.ms += hour
    expect(await home.events.prune({ auto: true })).toMatchObject({ skipped: false, pruned: 1 })
    await home[Symbol.asyncDispose]()
  })
})

it('of twenty processes that change the settings at once none loses what another was told', async () => {
  const root = scratch()
  const env = { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root }
  writeFileSync(join(root, 'config.toml'), '# mine\n[daemon]\nautostart = false\n')
  const types = Array.from({ length: 20 }, (_, n) => `kind_${n}`)
  await Promise.all(types.map((type) => run(process.execPath, [BIN, 'events', 'config', 'set', type, '3d'], { env })))
  const { home } = await openTestHome(root)
  expect(Object.keys((await home.events.policy()).ttls)).toEqual(expect.arrayContaining(types))
  await home[Symbol.asyncDispose]()
})
