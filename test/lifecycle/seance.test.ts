import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lifeOf } from '../../src/disk/index.js'
import type { SkeinError } from '../../src/model/index.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { fakeTool } from './fake-tool.js'
import { eventually, workshop } from './workshop.js'

/** The fake tool, which copies a conversation under the id it is given. */
function forking(): ToolRunner {
  const tool = fakeTool()
  return { ...tool, can: { ...tool.can, fork: true } }
}

describe('a past session is asked', () => {
  it('in a copy, by an agent of its own that is gone afterwards', async () => {
    const shop = await workshop({ runners: [forking()] })
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    await shop.agents.stop('toast')
    const before = await shop.home.sessions.get(agent.session_id as never)
    const asked = await shop.agents.talkSeance('web/toast', { prompt: 'why?', timeoutMs: 60_000 })
    expect(asked).toMatchObject({
      session: agent.session_id,
      agent: { address: 'seance/toast' },
      reply: expect.stringContaining('reply to why?'),
    })
    expect(asked.agent.session_id).not.toBe(agent.session_id)
    expect((await shop.agents.list({ all: true })).map(({ address }) => address)).toEqual(['web/toast'])
    expect(await shop.home.sessions.get(agent.session_id as never)).toEqual(before)
    const said = shop.log().filter((line) => line.prompt !== undefined)
    expect(said.map(({ session }) => session)).toEqual([asked.agent.session_id])
  })

  it('without a question the agent stays, and a second one gets a name of its own', async () => {
    const shop = await workshop({ runners: [forking()] })
    await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const first = await shop.agents.talkSeance('web/toast', { timeoutMs: 60_000 })
    const second = await shop.agents.talkSeance('web/toast', { timeoutMs: 60_000 })
    expect([first.agent.address, second.agent.address]).toEqual(['seance/toast', 'seance/toast-2'])
    expect(new Set((await shop.agents.list()).map(({ session_id }) => session_id)).size).toBe(3)
  })

  it('an agent whose asker was killed is removed by the next one who asks, and no other', async () => {
    const shop = await workshop({ runners: [forking()] })
    await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const { agent: kept } = await shop.agents.talkSeance('web/toast', { timeoutMs: 60_000 })
    const { agent: left } = await shop.agents.talkSeance('web/toast', { timeoutMs: 60_000 })
    const asker = join(shop.home.paths.agents, left.id, 'asker.json')
    writeFileSync(asker, JSON.stringify({ pid: process.pid, starttime: 1 })) // a pid that was given to another process since
    await shop.agents.talkSeance('web/toast', { prompt: 'why?', timeoutMs: 60_000 })
    expect((await shop.agents.list()).map(({ address }) => address)).toEqual([kept.address, 'web/toast'])
    expect(lifeOf({ pid: left.pid ?? 0 })).toBe('dead')
  })

  it('what a program says in another conversation than the copy is no reply', async () => {
    const shop = await workshop({ runners: [forking()] })
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const asked = shop.agents.talkSeance('web/toast', { prompt: 'clear', timeoutMs: 60_000 })
    await expect(asked).rejects.toMatchObject({
      code: 'not-answered',
      message: expect.stringMatching(
        `^No reply of session ${agent.session_id}: .* another conversation \\(.*-cleared\\)$`,
      ),
    })
    expect((await shop.agents.list({ all: true })).map(({ address }) => address)).toEqual(['web/toast'])
  })

  it('whoever gets no reply in time, or is interrupted, is told what is so: the agent is gone', async () => {
    const shop = await workshop({ runners: [forking()] })
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const read = `skein seance read ${agent.session_id}`
    const ask = (limits: { timeoutMs: number; signal?: AbortSignal }): Promise<SkeinError> =>
      shop.agents.talkSeance('web/toast', { prompt: 'forever', ...limits }).catch((error) => error)
    expect(await ask({ timeoutMs: 3_000 })).toMatchObject({
      code: 'timed-out',
      message: `No reply of session ${agent.session_id}: seance/toast is still running after 3s`,
      next: `Wait longer with --timeout, or read what it did: ${read}`,
    })
    const stop = new AbortController()
    const asked = ask({ timeoutMs: 60_000, signal: stop.signal })
    await eventually(
      () => shop.agents.list(),
      (seen) => seen.some(({ address, status }) => address === 'seance/toast' && status === 'running'),
    )
    stop.abort()
    const next = `Read what it did: ${read}`
    expect(await asked).toMatchObject({ code: 'interrupted', message: 'Interrupted before there was a reply', next })
    expect((await shop.agents.list({ all: true })).map(({ address }) => address)).toEqual(['web/toast'])
    // An agent that stays can be looked at.
    const waited = await shop.agents
      .send('web/toast', 'forever', { wait: true, timeoutMs: 60_000, signal: AbortSignal.timeout(2_000) })
      .catch((error) => error)
    expect(waited).toMatchObject({ code: 'interrupted', next: 'See: skein why web/toast' })
    expect(waited.message).toBe('Interrupted: web/toast is still running')
  })

  it.each([
    ['its tool cannot copy', fakeTool(), /fake cannot copy a conversation$/],
    ['its log is gone', { ...forking(), hasConversation: () => false }, /fake has no log of it any more$/],
  ])('and refused with a way to read it when %s; nothing is left behind', async (_, runner, message) => {
    const shop = await workshop({ runners: [runner] })
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const refused = await shop.agents.talkSeance('web/toast', { prompt: 'x', timeoutMs: 1_000 }).catch((error) => error)
    expect(refused.message).toMatch(message)
    expect(refused.next).toBe(`Read what it did: skein seance read ${agent.session_id}`)
    expect((await shop.home.roster.agents()).map(({ address }) => address)).toEqual(['web/toast'])
  })
})
