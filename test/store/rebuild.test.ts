import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { Journal } from '../../src/journal/index.js'
import { DAY_MS, type Event } from '../../src/model/index.js'
import { openTestHome, profileDirectory } from '../home/scratch.js'
import { anyHistory } from '../model/history.js'

/** Everything a user can see of the state. */
async function visible(home: Home): Promise<unknown> {
  const { sessions } = await home.sessions.query({ limit: 1_000 })
  const trees = await Promise.all(sessions.map((session) => home.sessions.tree(session.id)))
  const lists = await Promise.all(['ops', 'web'].map((rig) => home.sessions.query({ rig })))
  return {
    sessions,
    trees,
    lists,
    agents: await home.roster.agents(),
    groups: await home.roster.groups(),
    work: await home.work.list(),
  }
}

/** Appends a history in pieces, sealing a segment now and then, with a reader that catches up in between. */
async function live(root: string, events: readonly Event[], cuts: readonly number[]): Promise<unknown> {
  mkdirSync(profileDirectory(root), { recursive: true })
  const { home, clock } = await openTestHome(root)
  using journal = new Journal(join(profileDirectory(root), 'events'))
  for (let from = 0, turn = 0; from < events.length; turn += 1) {
    const size = cuts[turn % cuts.length] ?? 1
    const piece = events.slice(from, from + size)
    journal.append(piece, { durable: false, nowMs: Date.parse(piece[0]?.ts ?? '') })
    if (size % 3 === 0) journal.seal()
    if (size % 2 === 0) await home.sessions.query({})
    from += size
  }
  const seen = await visible(home)
  expect((await home.index.check()).problems).toEqual([])
  clock.ms = Date.UTC(2026, 5, 1)
  await home[Symbol.asyncDispose]()
  return seen
}

const histories = {
  events: anyHistory(),
  cuts: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
}

async function inScratch(body: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'skein-prop-'))
  try {
    await body(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

it('an index that followed along equals one that is built from the files', () =>
  fc.assert(
    fc.asyncProperty(fc.record(histories), ({ events, cuts }) =>
      inScratch(async (root) => {
        const before = await live(root, events, cuts)
        rmSync(join(profileDirectory(root), 'index.db'))
        const { home } = await openTestHome(root)
        expect(await visible(home)).toEqual(before)
        expect((await home.index.check()).problems).toEqual([])
        await home[Symbol.asyncDispose]()
      }),
    ),
    { numRuns: 60 },
  ))

it('pruning never changes the state, nor what is rebuilt after it', async () => {
  let prunedInAll = 0
  await fc.assert(
    fc.asyncProperty(fc.record({ ...histories, retain: fc.constantFrom(0, 3) }), ({ events, cuts, retain }) =>
      inScratch(async (root) => {
        writeFileSync(
          join(root, 'config.toml'),
          `[events]\nmin_retain = ${retain}\ndefault_ttl = "1h"\n[events.ttl]\n"session_*" = "1h"\nsession_start = "1h"\nsession_end = "1h"\n`,
        )
        const before = await live(root, events, cuts)
        const { home, clock } = await openTestHome(root, { ms: Date.UTC(2026, 5, 1) })
        const dry = await home.events.prune({ dryRun: true })
        const report = await home.events.prune()
        expect({ ...report, dry_run: true, archived_sessions: 0 }).toEqual(dry)
        prunedInAll += report.pruned
        const left = await home.events.read({ actor: 'prop' }) // without what the pruning itself says
        expect(left.length).toBe(Math.max(0, events.length - report.pruned))
        expect(left.length).toBeGreaterThanOrEqual(Math.min(retain, events.length))
        expect(await visible(home)).toEqual(before)
        clock.ms += DAY_MS
        await home.index.rebuild()
        expect(await visible(home)).toEqual(before)
        expect((await home.index.check()).problems).toEqual([])
        await home[Symbol.asyncDispose]()
      }),
    ),
    { numRuns: 60 },
  )
  expect(prunedInAll).toBeGreaterThan(200)
})

it('an archived session is still there after a rebuild, and its plain record is gone', async () => {
  await inScratch(async (root) => {
    const { home, clock } = await openTestHome(root)
    const old = await home.sessions.start({ id: 'old-one', title: 'long ago' })
    await home.sessions.end(old.id, { outcome: 'done' })
    await home.sessions.start({ id: 'still-active' })
    clock.ms += 40 * DAY_MS
    expect(await home.sessions.archive()).toEqual({ archived: 1 })
    expect(await home.sessions.archive()).toEqual({ archived: 0 })
    const sessions = readdirSync(join(profileDirectory(root), 'sessions'))
    expect(sessions.sort()).toEqual(['archive', 'still-active.json'])
    await home.index.rebuild()
    expect(await home.sessions.get('old-one')).toMatchObject({ title: 'long ago', outcome: 'done' })
    // A session that wakes up again gets its record back, and the newer telling wins.
    await home.sessions.start({ id: 'old-one', resume: true })
    await home.index.rebuild()
    expect((await home.sessions.get('old-one'))?.outcome).toBeUndefined()
    expect((await home.index.check()).problems).toEqual([])
    await home[Symbol.asyncDispose]()
  })
})
