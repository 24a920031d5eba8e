import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestHome, scratch } from './scratch.js'

const SECRET = 'Wombat-4242-burrow'

it('a home keeps snapshots, and a purge erases from them and keeps the words out of the next one', async () => {
  const root = scratch()
  const place = join(scratch(), 'project')
  mkdirSync(place)
  writeFileSync(join(place, 'a.txt'), 'plain\n')
  const { home } = await openTestHome(root, { ms: Date.now() })
  await using _open = home
  const taking = { directory: place, session: 's-1', moment: 'stop' as const }
  const first = await home.snapshots.capture({ ...taking, moment: 'prompt' })
  writeFileSync(join(place, 'b.txt'), `the word is ${SECRET}\n`)
  const second = await home.snapshots.capture(taking)
  expect(await home.snapshots.changes(first, second)).toEqual([
    { path: 'b.txt', status: 'added', added: 1, removed: 0 },
  ])
  const preview = await home.privacy.purge({ secret: SECRET, dryRun: true })
  expect(preview.places.map(({ file }) => file)).toEqual([expect.stringContaining('snapshots/')])
  expect((await home.privacy.purge({ secret: SECRET })).proof).toMatchObject({ left: [], unreadable: [] })
  const [, rewritten] = await home.snapshots.list('s-1')
  if (!rewritten) throw new Error('the second snapshot is gone')
  expect(await home.snapshots.patch(first, rewritten)).not.toContain('Wombat')
  expect((await home.snapshots.capture(taking)).skipped).toEqual([
    expect.objectContaining({ path: 'b.txt', reason: 'purged' }),
  ])
  await home.sessions.start({ id: 's-1' })
  await home.privacy.purge({ session: 's-1' })
  expect(await home.snapshots.list()).toEqual([])
  await expect(home.snapshots.capture(taking)).rejects.toMatchObject({ code: 'snapshot-refused' })
})
