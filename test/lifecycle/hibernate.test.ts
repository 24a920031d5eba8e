import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { nextOf } from '../../src/daemon/index.js'
import { HibernateRounds } from '../../src/daemon/watch/hibernate-rounds.js'
import { lifeOf } from '../../src/disk/index.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const HOUR = 3_600_000

async function yard(config = ''): Promise<Workshop & { later(ms: number): void; rounds: HibernateRounds }> {
  let aheadMs = 0
  const shop = await workshop({ clock: { now: () => Date.now() + aheadMs } })
  const configFile = join(shop.root, 'config.toml')
  writeFileSync(configFile, config)
  const rounds = new HibernateRounds({ parts: shop.parts, configFile, say: () => {} })
  const later = (ms: number): void => {
    aheadMs += ms
  }
  return { ...shop, rounds, later }
}

async function started(shop: Workshop, agent: string, { cwd = shop.project } = {}): Promise<void> {
  await shop.agents.start({ agent, cwd })
  await eventually(
    async () => (await shop.agents.why(agent)).agent.status,
    (status) => status === 'idle',
  )
}

const statusOf = async (shop: Workshop, agent: string): Promise<string> => (await shop.agents.why(agent)).agent.status
const prompts = (shop: Workshop) => shop.log().filter((line) => 'prompt' in line)

it('an agent that sleeps has no process, and a prompt wakes it in its conversation and is given to it once', async () => {
  const shop = await yard()
  await started(shop, 'web/toast')
  await shop.agents.send('web/toast', 'remember', { wait: true })
  const before = (await shop.agents.why('web/toast')).agent
  const receipt = await shop.agents.sleep('web/toast')
  expect(receipt).toMatchObject({
    did: 'put to sleep web/toast',
    agent: { status: 'asleep', session_id: before.session_id },
  })
  expect(lifeOf({ pid: before.pid ?? 0 })).toBe('dead')
  expect((await shop.agents.sleep('web/toast')).how).toBe('it is asleep already')
  // Neither recover nor up touches it, nor a look.
  expect(await shop.agents.recover({ spacingMs: 0, all: true })).toEqual([])
  expect(await shop.agents.recover({ spacingMs: 0, isUp: true })).toEqual([])
  expect(await statusOf(shop, 'web/toast')).toBe('asleep')
  for (const until of ['done', 'idle', 'waiting'] as const) {
    await expect(shop.agents.wait('web/toast', { until })).rejects.toMatchObject({
      code: 'agent-not-running',
      message: 'web/toast is asleep: by hand',
      next: expect.stringContaining('skein wake web/toast'),
    })
  }
  const [one, other] = await Promise.all([
    shop.agents.send('web/toast', 'what was it?'),
    (await shop.again()).agents.wake('web/toast'),
  ])
  expect(one.delivery).toBe('received')
  expect(other.agent.address).toBe('web/toast')
  expect(prompts(shop)).toMatchObject([
    { prompt: 'remember', session: before.session_id },
    { prompt: 'what was it?', session: before.session_id },
  ])
  expect(shop.log().filter(({ started: begun }) => begun)).toHaveLength(2)
})

it('a reply that nobody has seen is shown while its agent sleeps, and waits again when it is woken', async () => {
  const shop = await yard('[hibernate]\nafter = "2h"\n')
  for (const agent of ['web/seen', 'web/toast']) {
    await started(shop, agent)
    await shop.agents.send(agent, 'hello', { wait: true })
  }
  await shop.agents.ack('web/seen')
  shop.later(3 * HOUR)
  await shop.rounds.round()
  const listed = async () =>
    (await shop.agents.list()).map(({ address, status, waiting_for }) => [address, status, waiting_for])
  expect(await listed()).toEqual([
    ['web/seen', 'asleep', undefined],
    ['web/toast', 'asleep', 'finished'],
  ])
  expect(nextOf(await shop.agents.list())?.address).toBe('web/toast')
  // What is stored is what the daemon lists.
  const stored = async () =>
    (await shop.parts.runs.all()).map(({ status }) => status.waiting_for ?? status.status).sort()
  expect(await stored()).toEqual(['asleep', 'finished'])
  await shop.agents.wake('web/toast')
  await eventually(listed, ([, toast]) => toast?.[1] === 'waiting' && toast[2] === 'finished')
  shop.later(3 * HOUR)
  await shop.rounds.round()
  expect(await stored()).toEqual(['asleep', 'finished'])
  await shop.agents.ack('web/toast')
  expect(await stored()).toEqual(['asleep', 'asleep'])
  expect(await listed()).toEqual([
    ['web/seen', 'asleep', undefined],
    ['web/toast', 'asleep', undefined],
  ])
})

it('an agent whose directory is gone is not woken, and says which command brings it back', async () => {
  const shop = await workshop()
  const cwd = join(shop.root, 'elsewhere')
  mkdirSync(cwd)
  await started(shop, 'web/toast', { cwd })
  await shop.agents.send('web/toast', 'remember', { wait: true })
  await shop.agents.sleep('web/toast')
  renameSync(cwd, `${cwd}-moved`)
  const gone = { message: `There is no directory ${cwd}`, next: 'Create it again, then: skein wake web/toast' }
  await expect(shop.agents.wake('web/toast')).rejects.toMatchObject(gone)
  await expect(shop.agents.send('web/toast', 'hello')).rejects.toMatchObject(gone)
  expect(await statusOf(shop, 'web/toast')).toBe('asleep')
  renameSync(`${cwd}-moved`, cwd)
  await shop.agents.wake('web/toast')
  expect(await statusOf(shop, 'web/toast')).not.toBe('asleep')
})

it('what would be lost keeps it awake: a turn, a question, a draft, work in the background, a terminal that shows it', async () => {
  const shop = await yard()
  const refused = async (agent: string, why: string): Promise<void> => {
    await expect(shop.agents.sleep(agent)).rejects.toMatchObject({
      code: 'agent-not-ready',
      message: `${agent} was not put to sleep: ${why}`,
    })
    expect(await statusOf(shop, agent)).not.toBe('asleep')
  }
  for (const agent of ['turn', 'question', 'draft', 'background']) await started(shop, agent)
  await shop.agents.send('turn', 'forever')
  await refused('turn', 'it is running')
  await shop.agents.send('question', 'ask ls')
  await eventually(
    async () => (await shop.agents.why('question')).agent.waiting_for,
    (wait) => wait === 'permission',
  )
  await refused('question', 'it waits for an answer (permission)')
  shop.tmux('send-keys', '-t', (await shop.agents.why('draft')).agent.pane ?? '', 'half a')
  await eventually(
    () => shop.tmux('capture-pane', '-p', '-t', 'draft'),
    (screen) => screen.includes('half a'),
  )
  await refused('draft', 'its input line contains unsent text')
  await shop.agents.send('background', 'shell 60')
  await eventually(
    async () => (await shop.parts.runs.read((await shop.home.roster.agent('background')).id))?.background?.count,
    (count) => count === 1,
  )
  await started(shop, 'shown')
  const outer = (...words: string[]) => execFileSync('tmux', ['-S', join(shop.root, 'outer.sock'), ...words])
  const attach = `env -u TMUX TERM=screen tmux -S ${shop.socket} attach-session -t =shown`
  outer('-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', attach)
  onTestFinished(() => void outer('kill-server'))
  await eventually(
    () => shop.tmux('list-clients', '-F', '#{session_name}'),
    (clients) => clients.includes('shown'),
  )
  await refused('shown', 'a terminal shows it')
  await expect(shop.agents.sleep('background')).rejects.toMatchObject({ code: 'agent-not-ready' })
  await expect(shop.agents.sleep('nobody')).rejects.toMatchObject({ code: 'agent-not-found' })
})

it('by rule only those that were idle for so long sleep; a stop of one that is asleep makes it stay down', async () => {
  const shop = await yard('[hibernate.agents]\n"web" = "2h"\n')
  await started(shop, 'web/toast')
  await started(shop, 'kitchen')
  await shop.rounds.round()
  shop.later(HOUR)
  await shop.rounds.round()
  expect(await statusOf(shop, 'web/toast')).toBe('idle')
  shop.later(1.5 * HOUR)
  await shop.rounds.round()
  expect((await shop.agents.why('web/toast')).agent).toMatchObject({
    status: 'asleep',
    reason: 'asleep: idle for 2h30m',
  })
  expect(await statusOf(shop, 'kitchen')).toBe('idle')
  expect((await shop.agents.stop('web/toast')).how).toBe('it was asleep, and will not be woken by a prompt')
  expect(await statusOf(shop, 'web/toast')).toBe('stopped')
  await expect(shop.agents.send('web/toast', 'hello')).rejects.toMatchObject({ code: 'agent-not-running' })
  await shop.rounds[Symbol.asyncDispose]()
})

it('an agent whose program cannot resume its conversation is kept awake', async () => {
  const fake = fakeTool()
  const shop = await workshop({ runners: [{ ...fake, can: { ...fake.can, resume: false } }] })
  await shop.agents.start({ agent: 'web/mute', cwd: shop.project })
  await eventually(
    () => statusOf(shop, 'web/mute'),
    (status) => status === 'idle',
  )
  const refused = { code: 'agent-not-ready', message: expect.stringContaining('its conversation would be lost') }
  await expect(shop.agents.sleep('web/mute')).rejects.toMatchObject(refused)
  expect(await statusOf(shop, 'web/mute')).toBe('idle')
})

it('an agent that was never heard of is a year old by its heartbeat', async () => {
  const shop = await yard()
  await shop.agents.start({ agent: 'web/mute', cwd: shop.project, tool: 'mute' })
  const { heartbeat } = (await shop.agents.why('web/mute')).agent
  expect(heartbeat).toMatchObject({ age_ms: 365 * 24 * HOUR })
  expect(heartbeat).not.toHaveProperty('timestamp')
})
