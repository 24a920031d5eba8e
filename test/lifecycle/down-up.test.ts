import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lifeOf } from '../../src/disk/index.js'
import { stop } from '../../src/lifecycle/run/stop.js'
import { agentsDown, type OperationContext } from '../../src/operations/index.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const contextOf = (shop: Workshop): OperationContext =>
  ({ home: async () => shop.home, agents: async () => shop.agents }) as unknown as OperationContext

it('down stops in the order of the roles and leaves nothing running; up brings back those that were up, and no other', async () => {
  const shop = await workshop()
  writeFileSync(
    join(shop.root, 'config.toml'),
    '[roles.mayor]\nshutdown_order = 50\n[roles.boot]\nshutdown_order = 60\n[roles.deacon]\nshutdown_order = 70\n',
  )
  const start = (agent: string, role: string) => shop.agents.start({ agent, cwd: shop.project, role })
  for (const role of ['deacon', 'boot', 'mayor']) await start(role, role)
  for (const agent of ['worker', 'stopped']) await shop.agents.start({ agent, cwd: shop.project })
  await shop.agents.stop('stopped')
  const before = new Map((await shop.agents.list()).map(({ address, session_id }) => [address as string, session_id]))
  const { receipts, failures } = await agentsDown.run({ group: undefined, graceful: 2_000 }, contextOf(shop))
  expect(failures).toBeUndefined()
  expect(receipts.map(({ agent }) => agent.address)).toEqual(['worker', 'mayor', 'boot', 'deacon'])
  expect(() => shop.tmux('list-sessions')).toThrow()
  expect(await shop.agents.running()).toEqual([])
  expect(await shop.agents.recover({ spacingMs: 0 })).toEqual([])
  const down = (await shop.agents.list()).find(({ address }) => address === 'worker')
  expect(down?.reason).toBe('stopped: by skein down; skein up starts it again')
  await shop.agents.stop('mayor')
  const back = await shop.agents.recover({ spacingMs: 0, isUp: true })
  expect(back.map(({ agent, outcome }) => [agent.address, outcome])).toEqual([
    ['boot', 'resumed'],
    ['deacon', 'resumed'],
    ['worker', 'resumed'],
  ])
  for (const { fell } of back) expect(fell).toEqual({ how: 'stopped', reason: 'skein down' })
  for (const { agent, session_id } of back) expect(session_id).toBe(before.get(agent.address))
  expect(await shop.agents.recover({ spacingMs: 0, isUp: true })).toEqual([])
})

it('a second down or sleep that comes when an agent has just ended leaves it as the first one did', async () => {
  const shop = await workshop()
  for (const agent of ['worker', 'sleeper', 'crashed']) await shop.agents.start({ agent, cwd: shop.project })
  const agentOf = (name: string) => shop.home.roster.agent(name)
  await shop.agents.send('sleeper', 'something to keep', { wait: true })
  await shop.agents.sleep('sleeper')
  await shop.agents.down('worker', { graceMs: 2_000 })
  process.kill((await shop.agents.why('crashed')).agent.pid ?? 0, 'SIGKILL')
  await eventually(
    () => shop.agents.why('crashed'),
    ({ agent }) => agent.status === 'error',
  )
  // As a process does that saw them run a moment before.
  const hows: string[] = []
  for (const flag of [{ isDown: true }, { isAsleep: true }])
    for (const name of ['worker', 'sleeper']) hows.push((await stop(shop.parts, await agentOf(name), flag)).how)
  expect(hows).toEqual([
    'it was stopped by skein down already',
    'it is asleep already',
    'it was stopped by skein down already',
    'it is asleep already',
  ])
  expect((await stop(shop.parts, await agentOf('crashed'), { isAsleep: true })).how).toBe('it has ended meanwhile')
  expect((await shop.agents.why('sleeper')).agent.status).toBe('asleep')
  const back = await shop.agents.recover({ spacingMs: 0, isUp: true })
  expect(back.map(({ agent }) => agent.address)).toEqual(['worker'])
  expect((await shop.agents.recover({ spacingMs: 0 })).map(({ agent }) => agent.address)).toEqual(['crashed'])
})

it('down ends a process that has outlived its tmux server, and up brings its agent back', async () => {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project, args: ['--stubborn'] })
  const before = (await shop.agents.runs())[0]
  const { pid = 0 } = before?.run ?? {}
  process.kill(Number(shop.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await eventually(
    () => shop.agents.list(),
    ([one]) => one?.trouble === 'tmux-gone',
  )
  expect(lifeOf({ pid })).toBe('alive')
  const { receipts, failures } = await agentsDown.run({ group: undefined, graceful: 200 }, contextOf(shop))
  expect([receipts.map(({ agent }) => agent.address), failures]).toEqual([['toast'], undefined])
  expect(lifeOf({ pid })).toBe('dead')
  expect(await shop.agents.recover({ spacingMs: 0 })).toEqual([])
  const up = await shop.agents.recover({ spacingMs: 0, isUp: true })
  expect(up).toMatchObject([{ outcome: 'resumed', session_id: before?.binding?.session }])
})
