import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/model/index.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const pidOf = async ({ agents }: Workshop): Promise<number> => (await agents.runs())[0]?.run?.pid ?? 0
const ended = (shop: Workshop) =>
  eventually(
    async () => {
      await shop.agents.list()
      return (await shop.agents.runs())[0]?.run?.end
    },
    (end) => end !== undefined,
  )
const payloads = async ({ home }: Workshop, type: string): Promise<Event['payload'][]> =>
  (await home.events.read({ type })).map(({ payload }) => payload)

describe('the end of a run', () => {
  it('a crash is in the journal with its cause, its exit status and its last screen, without secrets', async () => {
    const shop = await workshop()
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project, work: 'wk-1' })
    await shop.agents.send('toast', 'the key is sk-ant-oat01-Zm9vYmFyYmF6cXV4XYZabcdef')
    await shop.agents.wait('toast', { until: 'done' })
    await shop.agents.send('toast', 'die 3').catch(() => undefined)
    expect(await ended(shop)).toMatchObject({ how: 'crashed', exit_status: 3, reason: 'exited 3' })
    const [death, ...more] = await payloads(shop, 'session_death')
    expect(more).toEqual([])
    expect(death).toMatchObject({
      session: agent.session_id,
      agent: 'web/toast',
      how: 'crashed',
      reason: 'exited 3',
      exit: 3,
      work: 'wk-1',
    })
    const screen = [death?.screen].flat().join('\n')
    expect(screen).toContain('> die 3')
    expect(screen).toContain('the key is')
    expect(screen).not.toContain('Zm9vYmFy')
  })

  it.each(['SIGINT', 'exit 130'])(
    'Ctrl-C in the program (%s) is the end that its user wanted, not a crash',
    async (how) => {
      const shop = await workshop()
      const { session } = await shop.agents.start({ agent: 'toast', cwd: shop.project })
      if (how === 'SIGINT') process.kill(await pidOf(shop), 'SIGINT')
      else await shop.agents.send('toast', 'die 130').catch(() => undefined)
      expect(await ended(shop)).toMatchObject({ how: 'exited', reason: 'ended with Ctrl-C' })
      expect(await shop.agents.list()).toMatchObject([{ status: 'stopped', reason: 'ended with Ctrl-C' }])
      expect(await payloads(shop, 'session_death')).toEqual([])
      expect(await shop.home.sessions.get(session?.id ?? '')).toMatchObject({ outcome: 'exit' })
      expect((await shop.agents.list())[0]).not.toHaveProperty('down')
    },
  )

  it('a signal is recorded, and a lost tmux server is a death of each of its agents', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    process.kill(await pidOf(shop), 'SIGKILL')
    expect(await ended(shop)).toMatchObject({ how: 'crashed', signal: 9 })
    await shop.agents.restart('toast')
    await shop.agents.start({ agent: 'jam', cwd: shop.project })
    shop.tmux('kill-server')
    await eventually(
      async () => {
        await shop.agents.list()
        return payloads(shop, 'session_death')
      },
      (deaths) => deaths.length === 3,
    )
    expect(await payloads(shop, 'session_death')).toMatchObject([
      { agent: 'toast', signal: 9, how: 'crashed' },
      { how: 'lost', reason: 'the tmux server is gone' },
      { how: 'lost', reason: 'the tmux server is gone' },
    ])
  })

  it('a stop is no death, whoever sees the program go first, and a kill is recorded as one', async () => {
    const shop = await workshop()
    const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project, args: ['--stubborn'] })
    const watching = await shop.again()
    let isOver = false
    const looking = (async () => {
      for (let looks = 0; !isOver && looks < 200; looks += 1) {
        await watching.agents.list()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    await shop.agents.stop('toast', { graceMs: 200 }).finally(() => (isOver = true))
    await looking
    expect(await payloads(shop, 'session_death')).toEqual([])
    expect(await payloads(shop, 'agent_stopped')).toMatchObject([{ how: 'stopped' }])
    expect((await shop.agents.runs())[0]?.run?.end?.how).toBe('stopped')
    expect(await shop.home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'exit' })
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    await shop.agents.kill('toast')
    expect(await payloads(shop, 'kill')).toMatchObject([{ target: 'toast', reason: 'killed by its user' }])
    expect(await payloads(shop, 'session_death')).toMatchObject([{ agent: 'toast', how: 'killed' }])
    expect(await shop.home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'killed' })
  })
})
