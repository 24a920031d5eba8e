import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { SilenceRounds } from '../../src/daemon/watch/silence-rounds.js'
import { touchBeat } from '../../src/journal/index.js'
import { type AgentView, considerRespawn, parseWatchdogSettings } from '../../src/lifecycle/index.js'
import { eventually, type Workshop, workshop } from '../lifecycle/workshop.js'

const MINUTE = 60_000

interface Yard extends Workshop {
  /** Moves the clock, and looks once. Programs still tell the real time: only for what reports nothing afterwards. */
  later(minutes: number): Promise<void>
  /** Makes all that is stored older instead, and looks once. */
  aged(minutes: number): Promise<void>
  agent(): Promise<AgentView>
  types(): Promise<string[]>
  said: string[]
  shown: Set<string>
}

/** An agent of the fake program with work on its hook, and a clock that only the test moves. */
async function yard({ tool = 'fake', respawn = 'on-crash' }: { tool?: string; respawn?: string } = {}): Promise<Yard> {
  let aheadMs = 0
  const shop = await workshop({ clock: { now: () => Date.now() + aheadMs } })
  const configFile = join(shop.root, 'config.toml')
  // A program that hangs does not end with its terminal.
  onTestFinished(async () => {
    await shop.agents.kill('web/toast').catch(() => undefined)
  })
  writeFileSync(configFile, `[watchdog]\nrespawn = "${respawn}"\nstuck_after = "5m"\n`)
  await shop.agents.start({ agent: 'web/toast', cwd: shop.project, tool })
  await eventually(
    async () => (await shop.agents.why('web/toast')).agent.status,
    (status) => status === 'idle',
  )
  const { id } = await shop.home.work.add({ title: 'Fix the login' })
  const [agent] = await shop.home.roster.agents()
  if (!agent) throw new Error('there is no agent')
  await shop.home.work.hook(id, agent)
  const said: string[] = []
  const shown = new Set<string>()
  const rounds = new SilenceRounds({
    parts: shop.parts,
    watcher: { shown: async () => shown as never },
    configFile,
    say: (line) => said.push(line),
  })
  const agedFile = (path: string, minutes: number): void => {
    const older = (time: string): string => new Date(Date.parse(time) - minutes * MINUTE).toISOString()
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, older))
  }
  return {
    ...shop,
    said,
    shown,
    aged: async (minutes) => {
      await shop.agents.observe()
      agedFile(join(shop.home.paths.agents, `${agent.id}.json`), minutes)
      for (const name of existsSync(shop.home.paths.beats) ? readdirSync(shop.home.paths.beats) : [])
        agedFile(join(shop.home.paths.beats, name), minutes)
      await shop.agents.observe()
      await rounds.round()
    },
    later: async (minutes) => {
      aheadMs += minutes * MINUTE
      await shop.agents.observe()
      await rounds.round()
    },
    agent: async () => (await shop.agents.why('web/toast')).agent,
    types: async () => (await shop.home.events.read({ type: '*' })).map(({ type }) => type),
  }
}

const prompts = (place: Workshop): string[] => place.log().flatMap(({ prompt }) => (prompt ? [String(prompt)] : []))

it('an agent that hangs with work on its hook is nudged once, shown as stuck, and ended for its rule to start it again', async () => {
  const place = await yard()
  await place.agents.send('web/toast', 'hang')
  await place.aged(4)
  expect(prompts(place)).toEqual(['hang'])
  await place.aged(2)
  expect(place.said).toEqual([expect.stringMatching(/^web\/toast was nudged: no heartbeat for [56]m/)])
  expect((await place.agent()).trouble).toBeUndefined()
  await place.aged(3)
  await place.aged(3)
  const stuck = await place.agent()
  expect(stuck).toMatchObject({ trouble: 'stuck', heartbeat: { state: 'stuck' } })
  expect(stuck.heartbeat?.work).toBeDefined()
  expect(stuck.reason).toMatch(/^no heartbeat since /)
  const before = await place.parts.runs.read(stuck.id)
  await place.home.roster.parkGroup('web', { parked: true })
  await place.aged(6)
  expect((await place.parts.runs.read(stuck.id))?.run?.end).toBeUndefined() // in a parked group it would not come back
  await place.home.roster.parkGroup('web', { parked: false })
  await place.aged(6)
  const ended = await place.parts.runs.read(stuck.id)
  expect(ended?.run).toMatchObject({ id: before?.run?.id, end: { how: 'crashed' } })
  expect(ended?.run?.end?.reason).toMatch(/^stuck: no heartbeat since /)
  const types = await place.types()
  expect(types.filter((type) => ['nudge', 'agent_stuck', 'session_death'].includes(type))).toEqual([
    'nudge',
    'agent_stuck',
    'session_death',
  ])
  // What the daemon's watchdog decides then, with its backoff and its limit.
  const rule = parseWatchdogSettings({ watchdog: { respawn: 'on-crash' } }, 'x', await place.home.programs.roles())
  const [agent] = await place.home.roster.agents()
  if (!agent) throw new Error('there is no agent')
  expect(await considerRespawn(place.parts, agent, rule.ruleOf(agent))).toMatchObject({ count: 1, delay_ms: 30_000 })
})

it('an agent that is idle with its work not done is nudged once, and shown after it has stopped again', async () => {
  const place = await yard()
  await place.aged(6)
  await eventually(
    () => prompts(place),
    (given) => given.length === 1,
  )
  expect(prompts(place)[0]).toMatch(/^Work \S+ is on your hook, and nothing has come from you for [56]m/)
  await eventually(
    async () => (await place.agent()).waiting_for,
    (wait) => wait === 'finished',
  )
  expect((await place.agent()).heartbeat?.last_command).toBe('hook:stop')
  for (const _ of [1, 2, 3]) await place.aged(6)
  expect(prompts(place)).toHaveLength(1)
  expect(await place.agent()).toMatchObject({ waiting_for: 'finished', trouble: 'stuck' })
  expect((await place.types()).filter((type) => type === 'session_death')).toEqual([])
  // It works again: that is shown at once, without a look for it.
  await place.agents.send('web/toast', 'go on')
  await eventually(
    async () => (await place.agent()).trouble,
    (trouble) => trouble === undefined,
  )
})

it('a build of 20 minutes is not stuck', async () => {
  const place = await yard()
  await place.agents.send('web/toast', 'build')
  for (let minutes = 0; minutes < 20; minutes += 4) await place.later(4)
  await place.later(6)
  expect(place.said).toEqual([])
  expect((await place.agent()).trouble).not.toBe('stuck')
})

it('a tool call that only waits is given longer, and then it is stuck', async () => {
  const place = await yard()
  await place.agents.send('web/toast', 'sleep')
  await place.later(1) // sees the process, which counts as work
  await place.later(20)
  expect(place.said).toEqual([])
  await place.later(11)
  expect(place.said).toEqual([expect.stringContaining('was nudged')])
})

it('nothing is typed into a dialog or a draft, and nothing is done about an agent whose screen somebody looks at', async () => {
  const place = await yard()
  place.shown.add((await place.agent()).id)
  await place.aged(30)
  place.shown.clear()
  const { pane } = await place.agent()
  place.tmux('send-keys', '-t', pane ?? '', 'half a sente')
  await place.aged(30)
  place.tmux('send-keys', '-t', pane ?? '', 'C-u')
  await place.agents.send('web/toast', 'ask ls')
  await eventually(
    async () => (await place.agent()).waiting_for,
    (wait) => wait === 'permission',
  )
  await place.aged(30)
  expect(place.said).toEqual([])
  expect(prompts(place)).toEqual(['ask ls'])
  expect(place.log().filter((line) => 'pasted_into_dialog' in line)).toEqual([])
})

it('a command that it types is a sign of life; one of another run, or a run that is over, is none', async () => {
  const place = await yard()
  const { id } = await place.agent()
  const run = (await place.parts.runs.read(id))?.run?.id ?? ''
  const touch = (of: string) => touchBeat(place.home.paths.beats, of, 'mail inbox', place.parts.context.clock.now())
  touch('another-run')
  await place.aged(4)
  touch(run)
  touch('../../escaped')
  await place.aged(4)
  expect(place.said).toEqual([])
  expect((await place.agent()).heartbeat).toMatchObject({ last_command: 'skein mail inbox', state: 'idle' })
  await place.aged(2)
  expect(place.said).toEqual([expect.stringContaining('was nudged')])
})

it('an agent whose rule is never stays up, shown as stuck', async () => {
  const place = await yard({ respawn: 'never' })
  await place.agents.send('web/toast', 'hang')
  for (const _ of [1, 2, 3, 4, 5]) await place.aged(6)
  expect(await place.agent()).toMatchObject({ status: 'running', trouble: 'stuck' })
})
