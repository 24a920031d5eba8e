import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { considerRespawn, respawnAgent } from '../../../src/lifecycle/care/respawn-agent.js'
import { beforeCompaction } from '../../../src/lifecycle/handoff/before-compaction.js'
import { finishHandoff, handOff, planHandoff } from '../../../src/lifecycle/handoff/handoff.js'
import { finishCutHandoff } from '../../../src/lifecycle/index.js'
import { contextOf } from '../context.js'
import { eventually, type Workshop, workshop } from '../workshop.js'
import { partsOf } from './parts.js'

const RULE = { respawn: 'on-crash', backoffMs: 1, mostMs: 1, limit: 5 } as const

/** An agent at work in a group. */
async function running(): Promise<Workshop & { session: string }> {
  const shop = await workshop()
  await shop.agents.start({ agent: 'web/toast', cwd: shop.project, role: 'crew' })
  await shop.agents.send('web/toast', 'hello', { wait: true, timeoutMs: 60_000 })
  const [view] = await shop.agents.list()
  return { ...shop, session: view?.session_id ?? '' }
}

const park = ({ home }: Workshop, parked = true) => home.roster.parkGroup('web', { parked, reason: 'release freeze' })

it('a handoff in a parked group is refused before anything changes; --auto saves', async () => {
  const shop = await running()
  const { agents, home, session } = shop
  await park(shop)
  const [before] = await agents.list()
  const events = (await home.events.read({})).length
  for (const request of [{}, { kind: 'cycle' }, { dryRun: true }] as const)
    await expect(agents.handoff({ agent: 'web/toast', message: 'go on', ...request })).rejects.toMatchObject({
      code: 'group-parked',
      message: expect.stringContaining('release freeze'),
      next: expect.stringContaining('skein group unpark web'),
    })
  expect(await agents.list()).toMatchObject([{ pid: before?.pid, session_id: session }])
  expect((await home.work.hooked(await home.roster.agent('web/toast'))).mail).toEqual([])
  expect((await home.events.read({})).slice(events).filter(({ type }) => type !== 'agent_status')).toEqual([])
  expect(await agents.handoff({ agent: 'web/toast', kind: 'auto', message: 'go on' })).toMatchObject({ kind: 'auto' })
  expect((await agents.list())[0]?.pid).toBe(before?.pid)
  await park(shop, false)
  expect(await agents.handoff({ agent: 'web/toast', message: 'go on' })).toMatchObject({ kind: 'fresh', is_done: true })
})

it('a handoff that was cut off waits until its group is unparked', async () => {
  const shop = await running()
  const { home, session } = shop
  const agent = await home.roster.agent('web/toast')
  const parts = await partsOf(shop)
  const cut = handOff(parts, await planHandoff(parts, agent, { message: 'go on' }), (step) => {
    if (step === 'marked') throw new Error('cut off')
  })
  await expect(cut).rejects.toThrow('cut off')
  await park(shop)
  await finishCutHandoff(parts, agent)
  await expect(finishHandoff(parts, agent)).rejects.toMatchObject({ code: 'group-parked' })
  await expect(shop.agents.handoff({ agent: 'web/toast', message: 'more' })).rejects.toMatchObject({
    code: 'group-parked',
  })
  expect((await home.work.hooked(agent)).mail).toHaveLength(1)
  expect(await shop.agents.list()).toMatchObject([{ session_id: session }])
  await park(shop, false)
  await finishCutHandoff(parts, agent)
  expect((await shop.agents.list())[0]?.session_id).not.toBe(session)
})

it('before a compaction in a parked group, a role that restarts its program only saves', async () => {
  const shop = await running()
  writeFileSync(join(shop.root, 'config.toml'), '[roles.crew]\nprecompact = "cycle"\n')
  const again = await shop.again()
  const { home } = again
  const detached: string[] = []
  const compact = () =>
    beforeCompaction({ home, context: contextOf([]) }, { agent: 'web/toast' }, (args) => void detached.push(...args))
  await park(again)
  expect(await compact()).toBe(false)
  expect(detached).toEqual([])
  expect((await home.work.hooked(await home.roster.agent('web/toast'))).mail).toMatchObject([{ kind: 'handoff' }])
  await park(again, false)
  expect(await compact()).toBe(true)
})

it('the watchdog starts nothing again in a parked group, and says how it comes back', async () => {
  const shop = await running()
  const parts = await partsOf(shop)
  const agent = await shop.home.roster.agent('web/toast')
  const [view] = await shop.agents.list()
  spawnSync('kill', ['-9', String(view?.pid)])
  await eventually(
    () => shop.agents.list(),
    ([one]) => one?.status === 'error',
  )
  const respawn = await considerRespawn(parts, agent, RULE)
  await park(shop)
  expect(respawn && (await respawnAgent(parts, agent, respawn))).toMatchObject({
    parked: { kind: 'refused', next: expect.stringMatching(/skein group unpark web.*skein recover web\/toast/) },
  })
  expect((await shop.agents.list())[0]).toMatchObject({ status: 'error' })
})
