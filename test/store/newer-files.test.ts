import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

const DAY_MS = 86_400_000

/** As a later version would write it: with fields of its own. */
function byANewerSkein(path: string): string {
  const content = readFileSync(path, 'utf8').replace('"v": 1', '"v": 2,\n "mood": "good"')
  writeFileSync(path, content)
  return content
}

it('a session record of a newer Skein is kept, named once, and nothing that it lacks is pruned', async () => {
  const root = scratch()
  const first = await openTestHome(root)
  await first.home.sessions.start({ id: 'theirs', title: 'before' })
  await first.home.sessions.start({ id: 'ours' })
  await first.home[Symbol.asyncDispose]()
  const path = join(profileDirectory(root), 'sessions', 'theirs.json')
  const content = byANewerSkein(path)
  const day = first.clock.ms

  const { home, warnings, clock } = await openTestHome(root, { ms: day })
  await home.sessions.update('theirs', { title: 'after' })
  await home.sessions.end('theirs', { outcome: 'done' })
  expect(readFileSync(path, 'utf8')).toBe(content)
  expect(warnings.filter((line) => line.includes('theirs'))).toEqual([
    expect.stringContaining('The record of session theirs was written by a newer Skein; it is unchanged'),
  ])
  clock.ms += 4_000 * DAY_MS
  for (let n = 0; n < 3; n += 1) await home.events.prune()
  expect(await home.sessions.archive({ olderThanDays: 1 })).toEqual({ archived: 0 })
  await home[Symbol.asyncDispose]()
  expect(readFileSync(path, 'utf8')).toBe(content)

  rmSync(join(profileDirectory(root), 'index.db'))
  const again = await openTestHome(root, { ms: clock.ms })
  expect(await again.home.sessions.get('theirs')).toMatchObject({ title: 'after', outcome: 'done' })
  expect((await again.home.sessions.query({})).sessions.map(({ id }) => id).sort()).toEqual(['ours', 'theirs'])
  expect(again.warnings.join('\n')).toContain('Session records were written by a newer Skein: theirs.json')
  expect(await again.home.index.check()).toMatchObject({
    ok: true,
    newer_files: ['profiles/default/sessions/theirs.json'],
  })
  await again.home[Symbol.asyncDispose]()
})

it('a roster of a newer Skein is kept, and the roster goes on in the journal', async () => {
  const root = scratch()
  const first = await openTestHome(root)
  await first.home.roster.add({ address: 'web/kim', tool: 'claude' })
  await first.home[Symbol.asyncDispose]()
  const path = join(profileDirectory(root), 'roster.json')
  const content = byANewerSkein(path)

  const { home, warnings } = await openTestHome(root)
  await home.roster.add({ address: 'web/lee', tool: 'claude' })
  await home[Symbol.asyncDispose]()
  expect(readFileSync(path, 'utf8')).toBe(content)
  expect(warnings.join('\n')).toContain('roster.json was written by a newer Skein and is unchanged')

  rmSync(join(profileDirectory(root), 'index.db'))
  const again = await openTestHome(root)
  expect((await again.home.roster.agents()).map(({ address }) => address)).toEqual(['web/kim', 'web/lee'])
  expect(await again.home.index.check()).toMatchObject({ ok: true, newer_files: ['profiles/default/roster.json'] })
  await again.home[Symbol.asyncDispose]()
  expect(readFileSync(path, 'utf8')).toBe(content)
})

it('a newer generation of the roster is set aside before it would fall off the end', async () => {
  const root = scratch()
  const write = async (address: string): Promise<void> => {
    const { home } = await openTestHome(root)
    await home.roster.add({ address, tool: 'claude' })
    await home[Symbol.asyncDispose]()
  }
  for (const name of ['a', 'b', 'c', 'd']) await write(name)
  const content = byANewerSkein(join(profileDirectory(root), 'roster.json.bak'))
  for (const name of ['e', 'f', 'g', 'h']) await write(name)
  const kept = readdirSync(profileDirectory(root)).filter((name) => name.startsWith('roster.json'))
  expect(kept.map((name) => readFileSync(join(profileDirectory(root), name), 'utf8'))).toContain(content)
})
