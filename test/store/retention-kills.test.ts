import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { seededRandom } from '../support/random.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'retain-until-killed.mjs')
const KILLS = 12
const DAY_MS = 86_400_000
const OLD_MS = 200 * DAY_MS

async function killedAfter(home: string, afterMs: number): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  const child = spawn(process.execPath, [WORKER, home], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.on('close', resolve))
}

const line = (session: string, round: number): string =>
  `${JSON.stringify({ type: 'user', uuid: `u-${session}`, sessionId: session, cwd: '/srv', timestamp: '2026-01-17T01:00:00.000Z', message: { role: 'user', content: `round ${round} of ${session}` } })}\n`

it('a daemon that is killed while it prunes, packs and prunes the archive loses nothing, and the next run goes on', async () => {
  const root = scratch()
  writeFileSync(
    join(root, 'config.toml'),
    '[sessions]\narchive_after_days = 30\n[events]\nmin_retain = 0\n[events.ttl]\npatrol_started = "1ms"\nmail = "0"\n[archive]\nmax_age = "30d"\n',
  )
  const random = seededRandom()
  const [mails, sessions] = [new Set<string>(), new Set<string>()]
  const [living, gone] = ['00000000-0000-4000-8000-00000000aaaa', new Set<string>()]
  let wasPruned = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const longAgo = Date.now() - OLD_MS + kill * 60_000
    const { home } = await openTestHome(root, { ms: longAgo })
    if (kill === 0) {
      await home.roster.add({ address: 'web/toast', tool: 'claude' })
      sessions.add((await home.sessions.start({ id: living, agent: 'web/toast', tool: 'claude' })).id)
    }
    const logs: string[] = []
    for (let n = 0; n < 25; n += 1) {
      for (let beat = 0; beat < 10; beat += 1)
        await home.events.append({ type: 'patrol_started', payload: { n, beat } })
      mails.add((await home.events.append({ type: 'mail', payload: { subject: `${kill}/${n}` } })).id)
      const { id } = await home.sessions.start({ title: `old ${kill}/${n}` })
      sessions.add(id)
      await home.sessions.end(id, { outcome: 'done' })
      if (n < 4)
        logs.push(
          n === 0 && kill === 0 ? living : `00000000-0000-4000-8000-${String(kill * 100 + n).padStart(12, '0')}`,
        )
    }
    for (const session of logs) {
      const log = join(root, '.claude', 'projects', '-srv', `${session}.jsonl`)
      mkdirSync(dirname(log), { recursive: true })
      writeFileSync(log, line(session, kill))
      utimesSync(log, longAgo / 1_000, longAgo / 1_000)
      if (session !== living) gone.add(session)
    }
    await home.history.ingest()
    rmSync(join(root, '.claude'), { recursive: true })
    for (const { id } of (await home.sessions.query({ limit: 10_000 })).sessions) sessions.add(id)
    await home[Symbol.asyncDispose]()

    await killedAfter(root, random(250))

    const after = await openTestHome(root, { ms: Date.now() })
    const kept = await after.home.events.read({ type: 'mail' })
    expect(kept.map(({ id }) => id)).toEqual([...mails].sort())
    const found = (await after.home.sessions.query({ limit: 10_000 })).sessions.map(({ id }) => id)
    expect(found.sort()).toEqual([...sessions].sort())
    expect(await after.home.archive.verify()).toMatchObject({ ok: true, problems: [] })
    // What an agent goes on with stays, however old it is.
    expect((await after.home.history.turns(living)).told_from).toBe('archive')
    wasPruned = (await after.home.events.stats()).auto_prune.total_pruned
    await after.home[Symbol.asyncDispose]()
  }
  const { home } = await openTestHome(root, { ms: Date.now() })
  const report = await home.events.prune()
  await home.archive.prune()
  expect(await home.events.read({ type: 'patrol_started' })).toEqual([])
  expect((await home.archive.list()).map(({ session }) => session)).toEqual([living])
  for (const session of gone) expect((await home.history.turns(session)).told_from).toBe('counts')
  const { auto_prune } = await home.events.stats()
  expect(auto_prune.last).toMatchObject({ pruned: report.pruned, kept: report.kept, by_type: report.by_type })
  expect(auto_prune.total_pruned).toBe(wasPruned + report.pruned)
  expect(auto_prune.archive).toMatchObject({ logs: expect.any(Number), by_age: expect.any(Number), by_size: 0 })
  expect(Date.parse(String(auto_prune.next_prune_time))).toBeGreaterThan(Date.now())
  expect(await home.index.check()).toMatchObject({ ok: true })
  await home[Symbol.asyncDispose]()
}, 120_000)
