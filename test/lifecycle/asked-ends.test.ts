import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { stop } from '../../src/lifecycle/run/stop.js'
import type { Agent } from '../../src/model/index.js'
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
