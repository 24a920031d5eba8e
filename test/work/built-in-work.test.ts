import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { DAY_MS } from '../../src/model/index.js'
import { describeWorkProvider } from '../contracts/work-provider.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

describeWorkProvider('the journal', async () => {
  const { home, clock } = await openTestHome(scratch())
  return {
    home: ticking(home, clock),
    close: async () => {
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    },
  }
})

/** Every call a second later. */
function ticking(home: Home, clock: { ms: number }): Home {
  const work = new Proxy(home.work, {
    get: (target, name) => {
      const method = Reflect.get(target, name, target) as unknown
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        clock.ms += 1_000
        return Reflect.apply(method, target, args)
      }
    },
  })
  return { ...home, work }
}

const run = promisify(execFile)
const WORKER = join(import.meta.dirname, '..', 'workers', 'hook-work.mjs')

it('of eight processes that want the same forty units each unit goes to exactly one', async () => {
  const root = scratch()
  const { home } = await openTestHome(root, { ms: Date.now() })
  const ids: string[] = []
  for (let n = 0; n < 40; n += 1) ids.push((await home.work.add({ title: `Unit ${n}` })).id)
  const names = Array.from({ length: 8 }, (_, n) => `fleet/a${n}`)
  for (const address of names) await home.roster.add({ address, tool: 'claude' })
  const outputs = await Promise.all(names.map((name) => run(process.execPath, [WORKER, root, name, ...ids])))
  const got = outputs.flatMap(({ stdout }) => stdout.split('\n').filter((line) => line.startsWith('got ')))
  const codes = new Set(outputs.flatMap(({ stdout }) => stdout.match(/^refused \S+/gm) ?? []))
  expect(got.sort()).toEqual(ids.map((id) => `got ${id}`).sort())
  expect([...codes]).toEqual(['refused work-taken'])
  const units = await home.work.list()
  expect(units.map(({ status }) => status)).toEqual(Array(40).fill('hooked'))
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
})

it('retention keeps what is open or unread for ever, and drops what is settled, as a rebuild does', async () => {
  const root = scratch()
  const { home, clock } = await openTestHome(root)
  const kim = await home.roster.add({ address: 'web/kim', tool: 'claude' })
  const open = await home.work.add({ title: 'Open' })
  const hooked = await home.work.add({ title: 'Hooked' })
  const done = await home.work.add({ title: 'Done' })
  await home.work.hook(hooked.id, kim)
  await home.work.hook(done.id, kim)
  await home.work.close(done.id, { status: 'done' })
  const unread = await home.work.send({ to: kim, subject: 'Unread', body: 'b' })
  const read = await home.work.send({ to: kim, subject: 'Read', body: 'b' })
  const held = await home.work.send({ to: kim, subject: 'Held', body: 'b', kind: 'handoff', is_hooked: true })
  await home.work.readMail(read.id)
  await home.work.readMail(held.id)
  await home.work.appendHandoffRecord(kim, { subject: 'Once' })
  const state = async (from: Home): Promise<unknown> => ({
    units: (await from.work.list({ status: ['open', 'hooked', 'done'] })).map(({ id, status }) => [id, status]).sort(),
    mail: (await from.work.inbox(kim, { all: true })).mail.map(({ id }) => id).sort(),
    hooked: await from.work.hooked(kim),
    record: await from.work.handoffRecord(kim),
  })
  // Enough newer events that the rule of the newest hundred does not keep the old ones.
  for (let n = 0; n < 120; n += 1) await home.events.append({ type: 'nudge', payload: { n } })
  clock.ms += 40 * DAY_MS
  await home.events.prune()
  expect((await home.events.read({ type: 'work_changed' })).length).toBe(6) // not expired yet
  expect((await home.work.inbox(kim, { all: true })).mail.map(({ id }) => id).sort()).toEqual(
    [unread.id, held.id].sort(),
  )
  clock.ms += 400 * DAY_MS
  await home.events.prune()
  await home.events.prune()
  const kept = await state(home)
  expect(kept).toMatchObject({
    units: [
      [open.id, 'open'],
      [hooked.id, 'hooked'],
    ].sort(),
  })
  expect((await home.events.read({ type: 'work_changed' })).length).toBe(2) // one for each unit that is left
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
  rmSync(join(profileDirectory(root), 'index.db'))
  const { home: again } = await openTestHome(root, clock)
  expect(await state(again)).toEqual(kept)
  await again[Symbol.asyncDispose]()
})

it('what says that items are gone stays for as long as any of their events does', async () => {
  const root = scratch()
  const { home, clock } = await openTestHome(root)
  const { id } = await home.work.add({ title: 'Done' })
  await home.work.close(id, { status: 'done' })
  for (let n = 0; n < 120; n += 1) await home.events.append({ type: 'nudge', payload: { n } })
  clock.ms += 100 * DAY_MS
  await home.events.prune()
  expect(await home.work.list({ status: ['done'] })).toEqual([])
  // From now on events of units are kept for ever: the unit is gone, its events are not.
  await home.events.setTtl('work_changed', '0')
  clock.ms += 400 * DAY_MS
  for (let n = 0; n < 120; n += 1) await home.events.append({ type: 'nudge', payload: { n } })
  await home.events.prune()
  expect((await home.index.check()).problems).toEqual([])
  await home.index.rebuild()
  expect(await home.work.list({ status: ['done'] })).toEqual([])
  await home[Symbol.asyncDispose]()
})

it('an agent that is removed leaves its work to others, and its mail to who takes its address', async () => {
  const { home } = await openTestHome(scratch())
  const kim = await home.roster.add({ address: 'web/kim', tool: 'claude' })
  const { id } = await home.work.add({ title: 'Left' })
  await home.work.hook(id, kim)
  const mail = await home.work.send({ to: kim, subject: 'For kim', body: 'b' })
  await home.roster.remove('web/kim')
  expect(await home.work.show(id)).toMatchObject({ status: 'open' })
  expect((await home.work.show(id)).agent).toBeUndefined()
  const next = await home.roster.add({ address: 'web/kim', tool: 'claude' })
  expect(await home.work.hooked(next)).toEqual({ work: [], mail: [] })
  expect((await home.work.inbox(next)).mail.map((one) => one.id)).toEqual([mail.id])
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
})

it('work follows its group through a rename and out of one that is deleted', async () => {
  const { home } = await openTestHome(scratch())
  await home.roster.createGroup('web/ui')
  await home.roster.createGroup('webby')
  const inside = await home.work.add({ title: 'Inside', group: 'web/ui' as never })
  const beside = await home.work.add({ title: 'Beside', group: 'webby' as never })
  await home.roster.renameGroup('web', 'site')
  expect((await home.work.show(inside.id)).group).toBe('site/ui')
  expect((await home.work.show(beside.id)).group).toBe('webby')
  expect((await home.work.list({ group: 'site' as never })).map(({ id }) => id)).toEqual([inside.id])
  await home.roster.deleteGroup('site')
  expect((await home.work.show(inside.id)).group).toBeUndefined()
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
})
