import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { LiveRun } from '../../src/lifecycle/agent-run.js'
import { askedOf, askFor } from '../../src/lifecycle/run/asked-end.js'
import { stop } from '../../src/lifecycle/run/stop.js'
import { type Agent, instantOf } from '../../src/model/index.js'
import { eventually, type Workshop, workshop } from './workshop.js'

async function started(): Promise<{ place: Workshop; agent: Agent }> {
  const place = await workshop()
  await place.agents.start({ agent: 'web/toast', cwd: place.project, tool: 'fake' })
  await eventually(
    async () => (await place.agents.why('web/toast')).agent.status,
    (status) => status === 'idle',
  )
  const [agent] = await place.home.roster.agents()
  if (!agent) throw new Error('there is no agent')
  return { place, agent }
}

it.each([
  [{ because: 'the budget is used up' }, 'stopped', 'stopped: the budget is used up'],
  [{ because: 'idle for 2 h', isAsleep: true }, 'asleep', 'asleep: idle for 2 h'],
] as const)(
  'a process that sees the end before the one that asked for it says why: %j',
  async (options, status, reason) => {
    const { place, agent } = await started()
    const other = await place.again()
    const shown: (string | undefined)[] = []
    let isOver = false
    const looking = (async () => {
      while (!isOver) {
        shown.push((await other.agents.why('web/toast')).agent.reason)
        await sleep(5)
      }
    })()
    await stop(place.parts, agent, options).finally(() => {
      isOver = true
    })
    await looking
    const stopped = await place.home.events.read({ type: 'agent_stopped' })
    expect(stopped.map(({ payload }) => payload)).toMatchObject([{ how: 'stopped', reason }])
    expect(shown.filter((one) => one?.includes('exited'))).toEqual([])
    expect((await other.agents.why('web/toast')).agent).toMatchObject({ status, reason })
  },
)

it('an end that was asked for is recorded as that when whoever asked was killed meanwhile', async () => {
  const { place, agent } = await started()
  const at = new Date().toISOString() as never
  const asked = { how: 'stopped', at, reason: 'stopped: skein down', is_down: true } as const
  await place.parts.runs.update(agent, (current) =>
    current?.run ? { next: { ...current, run: { ...current.run, asked } }, result: undefined } : undefined,
  )
  const pid = (await place.parts.runs.read(agent.id))?.run?.pid ?? 0
  process.kill(pid, 'SIGKILL')
  const ended = await eventually(
    async () => (await place.agents.why('web/toast')).agent,
    (one) => one.status === 'stopped',
  )
  expect(ended.reason).toBe('stopped: skein down')
  expect((await place.parts.runs.read(agent.id))?.run).toMatchObject({ is_down: true, end: { how: 'stopped' } })
  expect(await place.home.events.read({ type: 'session_death' })).toEqual([])
})

it('a crash long after a stop that was cut off is a crash', async () => {
  const { place, agent } = await started()
  const dead = { pid: process.pid, starttime: 1 } // this pid, another process
  const at = (secondsAgo: number) => instantOf(Date.now() - secondsAgo * 1_000)
  const ask = (secondsAgo: number) =>
    place.parts.runs.update(agent, (current) => {
      if (!current?.run) return undefined
      const asked = { how: 'stopped', at: at(secondsAgo), by: dead, is_down: true } as const
      return { next: { ...current, run: { ...current.run, asked } }, result: undefined }
    })
  const stateOf = async () => (await place.agents.why('web/toast')).agent.heartbeat?.state
  await ask(1)
  expect(await stateOf()).toBe('exiting')
  await ask(60)
  expect(await stateOf()).toBe('idle')
  process.kill((await place.parts.runs.read(agent.id))?.run?.pid ?? 0, 'SIGKILL')
  await eventually(
    async () => (await place.agents.why('web/toast')).agent.status,
    (status) => status === 'error',
  )
  const run = (await place.parts.runs.read(agent.id))?.run
  expect(run).toMatchObject({ end: { how: 'crashed', signal: 9 } })
  expect(run).not.toHaveProperty('is_down')
  expect(await place.home.events.read({ type: 'session_death' })).toHaveLength(1)
})

it('a stop that is under way counts for as long as the process that asked for it lives', () => {
  const run = { asked: askFor({ how: 'stopped' }, instantOf(0)) } as LiveRun
  expect(askedOf(run, 3_600_000)).toBe(run.asked)
  expect(askedOf({ ...run, asked: { how: 'stopped', at: instantOf(0) } }, 3_600_000)).toBeUndefined()
  expect(askedOf({ ...run, asked: { how: 'stopped', at: instantOf(0) } }, 1_000)).toBeDefined()
})
