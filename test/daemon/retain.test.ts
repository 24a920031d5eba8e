import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { retain } from '../../src/daemon/intake/retain.js'
import { openTestHome, scratch } from '../home/scratch.js'

const SESSION = '22222222-2222-4222-8222-222222222222'
const DAY_MS = 86_400_000

it('the daemon prunes events and the archive by itself when that is due, and the statistics say what, why and what is next', async () => {
  const root = scratch()
  writeFileSync(
    join(root, 'config.toml'),
    '[events]\nmin_retain = 0\nprune_interval = "1h"\n[events.ttl]\npatrol_started = "1d"\n[archive]\nmax_age = "30d"\n',
  )
  const log = join(root, '.claude', 'projects', '-srv', `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  const message = { role: 'user', content: 'hello' }
  const at = '2026-01-17T01:00:00.000Z'
  const line = { type: 'user', uuid: 'u', sessionId: SESSION, cwd: '/srv', timestamp: at, message }
  writeFileSync(log, `${JSON.stringify(line)}\n`)
  utimesSync(log, Date.parse(at) / 1_000, Date.parse(at) / 1_000)
  const { home, clock } = await openTestHome(root, { ms: Date.now() })
  await home.events.append({ type: 'patrol_started' })
  await home.history.ingest()
  rmSync(log)
  await retain(home)
  expect((await home.archive.list()).map(({ session }) => session)).toEqual([SESSION]) // not due yet
  const began = clock.ms
  clock.ms += 2 * DAY_MS
  await retain(home)
  expect(await home.archive.list()).toEqual([])
  expect((await home.events.stats()).auto_prune).toMatchObject({
    prune_count: 1,
    last: { pruned: 1, by_type: { patrol_started: 1 }, archived_sessions: 1 },
    next_prune_time: new Date(began + 2 * DAY_MS + 3_600_000).toISOString(),
    archive: { at: new Date(clock.ms).toISOString(), logs: 1, by_age: 1, by_size: 0 },
  })
  await home[Symbol.asyncDispose]()
})
