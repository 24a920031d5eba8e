import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSessionId, type SessionId } from '../../src/model/index.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

/** A session that was recorded outside, and is over. */
async function recorded({ home, project }: Workshop, id: string, facts: object = {}): Promise<SessionId> {
  await home.sessions.start({ id: parseSessionId(id), tool: 'fake', cwd: project, ...facts })
  return (await home.sessions.end(id, { outcome: 'exit' })).id
}

/** Everything that a refused command must not change. */
async function stateOf({ home, agents }: Workshop): Promise<unknown> {
  const files = readdirSync(home.paths.agents, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('.lock') && statSync(join(home.paths.agents, name)).isFile())
    .sort()
  return {
    roster: await home.roster.agents(),
    events: (await home.events.read({})).map(({ id }) => id),
    files: files.map((name) => [name, readFileSync(join(home.paths.agents, name), 'utf8')]),
    runs: await agents.runs(),
  }
}

describe('an agent that is started in a session of the history', () => {
  it('goes on with one that was recorded outside, under its record and in its directory', async () => {
    const shop = await workshop()
    const { agents, home, project } = shop
    const session = await recorded(shop, 'outside-session-1')
    const { agent, did, session: record } = await agents.start({ resume: 'outside-sess', prompt: 'hello' })
    expect(agent).toMatchObject({ address: 'project', tool: 'fake', session_id: session, project_path: project })
    expect(did).toBe(`started project, resuming ${session}`)
    expect(record).toMatchObject({ id: session, agent: 'project', chain_id: session })
    expect(record).not.toHaveProperty('outcome')
    expect((await agents.runs())[0]).toMatchObject({ run: { how: 'resume' }, binding: { session } })
    await eventually(
      () => shop.log(),
      (lines) => lines.some((line) => line.prompt === 'hello' && line.session === session),
    )
    expect((await home.sessions.query({})).sessions).toHaveLength(1)
    expect((await home.events.read({ type: 'session_resumed' })).map((event) => event.session)).toEqual([session])
    await agents.stop('project')
    expect(await home.sessions.get(session)).toHaveProperty('outcome')
    await agents.restart('project')
    expect((await agents.list())[0]).toMatchObject({ session_id: session })
  })

  it('is a new one beside an agent of that directory, in the conversation of an agent that was removed', async () => {
    const shop = await workshop()
    const { agents, project } = shop
    const { session } = await agents.start({ cwd: project, agent: 'old' })
    await agents.remove('old', { force: true })
    await agents.start({ cwd: project })
    const { agent } = await agents.start({ resume: String(session?.id) })
    expect(agent).toMatchObject({ address: 'project-2', session_id: session?.id })
  })

  it('is the agent that the session belongs to, also when the agent is named instead', async () => {
    const shop = await workshop()
    const { agents, project } = shop
    const { session } = await agents.start({ cwd: project, agent: 'web/shop', model: 'opus' })
    for (const resume of [String(session?.id), 'web/shop']) {
      await agents.stop('web/shop')
      const { agent } = await agents.start({ resume })
      expect(agent).toMatchObject({ address: 'web/shop', session_id: session?.id })
      expect((await agents.runs())[0]).toMatchObject({ recipe: { model: 'opus' }, run: { how: 'resume' } })
    }
  })

  it('leaves the conversation it had when it is named and does not run', async () => {
    const shop = await workshop()
    const { agents, home, project } = shop
    const { session: first } = await agents.start({ cwd: project, agent: 'web/shop' })
    await agents.send('web/shop', 'hello', { wait: true })
    await agents.stop('web/shop')
    const session = await recorded(shop, 'outside-session-1')
    const { agent } = await agents.start({ resume: session, agent: 'web/shop' })
    expect(agent).toMatchObject({ session_id: session })
    expect(agent).not.toMatchObject({ waiting_for: 'finished' })
    expect(await home.sessions.get(String(first?.id))).toHaveProperty('outcome')
  })

  it('is one alone when two are asked for at the same time', async () => {
    const shop = await workshop()
    const other = await shop.again()
    const session = await recorded(shop, 'outside-session-1')
    const asked = [shop, other].map(({ agents }, at) => agents.start({ resume: session, agent: `one-${at}` }))
    const settled = await Promise.allSettled(asked)
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(settled.find((one) => one.status === 'rejected')?.reason).toMatchObject({ code: 'agent-running' })
    expect(await shop.home.roster.agents()).toHaveLength(1)
  })

  it('is refused, and nothing is changed', async () => {
    const blunt = { ...fakeTool({ name: 'blunt' }) }
    const forgetful = { ...fakeTool({ name: 'forgetful' }), hasConversation: () => false }
    const open = {
      ...fakeTool({ name: 'open' }),
      openConversations: () => new Set([parseSessionId('held-elsewhere-1')]),
    }
    const runners = [fakeTool(), { ...blunt, can: { ...blunt.can, resume: false } }, forgetful, open]
    const shop = await workshop({ runners })
    const { agents, home, project, root } = shop
    const { session: live } = await agents.start({ cwd: project, agent: 'web/shop' })
    const { session: down } = await agents.start({ cwd: project, agent: 'web/down' })
    await agents.stop('web/down')
    const ended = await recorded(shop, 'outside-session-1')
    const gone = await recorded(shop, 'gone-directory-1', { cwd: join(root, 'gone') })
    await recorded(shop, 'no-resume-1', { tool: 'blunt' })
    await recorded(shop, 'no-log-1', { tool: 'forgetful' })
    await recorded(shop, 'held-elsewhere-1', { tool: 'open' })
    await home.sessions.start({ id: parseSessionId('still-active-1'), tool: 'fake', cwd: project })
    await home.sessions.start({ id: parseSessionId('continued-1'), tool: 'fake', cwd: project })
    await home.sessions.handoff('continued-1', { id: parseSessionId('successor-1') })
    await home.sessions.start({ id: parseSessionId('nowhere-1'), tool: 'fake' })
    await agents.list()
    await eventually(
      () => home.events.read({ type: 'identity_bind' }),
      (events) => events.length >= 1,
    )
    const before = await stateOf(shop)
    const refusals: [Parameters<typeof agents.start>[0], string, RegExp][] = [
      [{ resume: String(live?.id) }, 'agent-running', /conversation of web\/shop, which runs/],
      [{ resume: 'web/shop' }, 'agent-running', /conversation of web\/shop, which runs/],
      [{ resume: String(live?.id), agent: 'other' }, 'agent-running', /conversation of web\/shop/],
      [{ resume: String(down?.id), agent: 'other' }, 'agent-exists', /conversation of web\/down/],
      [{ resume: ended, agent: 'web/shop' }, 'agent-running', /web\/shop is already running/],
      [{ resume: ended, tool: 'blunt' }, 'illegal-transition', /of fake, not of blunt/],
      [{ resume: ended, cwd: root }, 'illegal-transition', /works in .*project/],
      [{ resume: gone }, 'illegal-transition', /gone, which is gone/],
      [{ resume: 'no-resume-1' }, 'illegal-transition', /blunt has no way/],
      [{ resume: 'no-log-1' }, 'illegal-transition', /forgetful has no log of it any more/],
      [{ resume: 'held-elsewhere-1' }, 'illegal-transition', /is open in another program/],
      [{ resume: 'held-elsewhere-1', force: true }, 'illegal-transition', /is open in another program/],
      [{ resume: 'still-active-1' }, 'illegal-transition', /is active/],
      [{ resume: 'continued-1' }, 'illegal-transition', /continued by successor-1/],
      [{ resume: 'nowhere-1', force: true }, 'illegal-transition', /no directory in its record/],
      [{ resume: 'unknown-session' }, 'session-not-found', /No session matches/],
    ]
    for (const [options, code, message] of refusals) {
      const said = JSON.stringify(options)
      await expect(agents.start(options), said).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
      expect(await stateOf(shop), said).toEqual(before)
    }
    const { agent } = await agents.start({ resume: 'still-active-1', force: true })
    expect(agent).toMatchObject({ address: 'project', session_id: 'still-active-1' })
  })

  it('says truthfully that its program failed to open it', async () => {
    const shop = await workshop()
    const session = await recorded(shop, 'outside-session-1')
    const args = ['--die', '3', '--because', 'there is no such conversation']
    const started = shop.agents.start({ resume: session, args })
    await expect(started).rejects.toMatchObject({
      code: 'agent-died',
      details: [expect.stringContaining('there is no such conversation')],
    })
    expect(await shop.home.sessions.get(session)).toHaveProperty('outcome')
  })

  it('does not take the session of an agent that was removed and brought back', async () => {
    const shop = await workshop()
    const { agents, project } = shop
    const { session } = await agents.start({ cwd: project, agent: 'old' })
    await agents.remove('old', { force: true })
    await agents.start({ resume: String(session?.id), agent: 'new' })
    await agents.undoRemove('old')
    await expect(agents.start({ agent: 'old' })).rejects.toMatchObject({
      code: 'agent-running',
      message: expect.stringContaining('conversation of new, which runs'),
    })
  })
})

it('an agent whose log was deleted is not started in an empty conversation under the same id', async () => {
  let isDeleted = false
  const shop = await workshop({ runners: [{ ...fakeTool(), hasConversation: () => !isDeleted }] })
  for (const agent of ['silent', 'toast']) await shop.agents.start({ agent, cwd: shop.project })
  await shop.agents.send('toast', 'hello', { wait: true })
  const { agent: before } = await shop.agents.stop('toast')
  await shop.agents.stop('silent')
  isDeleted = true
  const deleted = {
    code: 'session-not-found',
    message: `fake has no log of session ${before.session_id} any more: it was deleted`,
    next: expect.stringContaining('skein restart toast --fresh'),
  }
  await expect(shop.agents.start({ agent: 'toast' })).rejects.toMatchObject(deleted)
  await expect(shop.agents.restart('toast')).rejects.toMatchObject(deleted)
  expect((await shop.agents.why('toast')).agent).toMatchObject({ status: 'stopped', session_id: before.session_id })
  // Nothing was said in this one, so nothing is missing.
  await shop.agents.start({ agent: 'silent' })
  const { agent: fresh } = await shop.agents.restart('toast', { fresh: true })
  expect(fresh.session_id).not.toBe(before.session_id)
})
