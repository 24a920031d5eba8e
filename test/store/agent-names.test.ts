import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Agent, agentsNamed, agentsWithId } from '../../src/model/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

/** Three agents: two with the same name, one with a title, each with a session and a directory. */
async function house() {
  const root = scratch()
  const at = { cwd: root }
  const { home } = await openTestHome(root, undefined, () => at.cwd)
  const [shop, back] = [join(root, 'src', 'shop'), join(root, 'src', 'back')]
  for (const path of [join(shop, 'lib'), back]) mkdirSync(path, { recursive: true })
  const web = await home.roster.add({ address: 'web/shop', tool: 'claude', title: 'Front end', project_path: shop })
  const api = await home.roster.add({ address: 'back/api', tool: 'codex', title: 'Rest', project_path: back })
  const other = await home.roster.add({ address: 'old/shop', tool: 'claude', project_path: back })
  return { root, home, at, shop, back, web, api, other }
}

describe('an agent is named', () => {
  it.each([
    ['by its address', 'web/shop', 'web/shop'],
    ['by an end of it that no other has', 'api', 'back/api'],
    ['by its title', 'Front end', 'web/shop'],
    ['by its name, which another has as a title', 'Rest', 'back/api'],
  ])('%s', async (_how, reference, address) => {
    await using home = (await house()).home
    expect((await home.roster.agent(reference)).address).toBe(address)
  })

  it('by the beginning of its id, of four characters at least', async () => {
    const { home, api } = await house()
    await using _home = home
    const unique = uniqueBeginning(
      api.id,
      (await home.roster.agents()).map(({ id }) => id),
    )
    expect((await home.roster.agent(unique)).address).toBe('back/api')
    await expect(home.roster.agent(api.id.slice(0, 3))).rejects.toMatchObject({ code: 'agent-not-found' })
  })

  it('by the beginning of the id of the session it is in', async () => {
    const { root, home, api, web } = await house()
    await using _home = home
    await home.sessions.start({ id: 'recorded-1', agent: 'back/api' })
    bind(root, web, 'bound-2')
    expect((await home.roster.agent('recorded')).address).toBe('back/api')
    expect((await home.roster.agent('bound-2')).address).toBe('web/shop')
    await home.sessions.start({ id: 'recorded-3', agent: 'back/api', started_at: later })
    await expect(home.roster.agent('recorded-1')).rejects.toMatchObject({ code: 'agent-not-found' }) // over
    expect((await home.roster.agent('recorded-3')).id).toBe(api.id)
  })

  it('by ".", in its directory, below it, and through a link', async () => {
    const { root, home, at, shop } = await house()
    await using _home = home
    for (const cwd of [shop, join(shop, 'lib')]) {
      at.cwd = cwd
      expect((await home.roster.agent('.')).address).toBe('web/shop')
    }
    symlinkSync(shop, join(root, 'link'))
    at.cwd = join(root, 'link')
    expect((await home.roster.agent('.')).address).toBe('web/shop')
    at.cwd = root
    await expect(home.roster.agent('.')).rejects.toMatchObject({ message: `No agent works in ${root}` })
  })

  it('or the candidates are listed', async () => {
    const { home, at, back } = await house()
    await using _home = home
    const both = '"shop" fits 2 agents: old/shop, web/shop'
    await expect(home.roster.agent('shop')).rejects.toMatchObject({ code: 'ambiguous-id', message: both })
    at.cwd = back
    await expect(home.roster.agent('.')).rejects.toMatchObject({ message: '"." fits 2 agents: back/api, old/shop' })
    await home.roster.update('back/api', { title: 'shop' })
    await expect(home.roster.agent('shop')).rejects.toMatchObject({
      message: '"shop" fits 3 agents: back/api, old/shop, web/shop',
    })
  })

  it('the same way wherever the roster is changed', async () => {
    const { home, at, shop } = await house()
    await using _home = home
    at.cwd = shop
    expect((await home.roster.update('Front end', { role: 'builder' })).address).toBe('web/shop')
    expect((await home.roster.setParent('api', '.')).parent_id).toBe((await home.roster.agent('web/shop')).id)
    expect((await home.roster.rename('.', 'store')).address).toBe('web/store')
    expect((await home.roster.remove('api')).address).toBe('back/api')
  })
})

describe('a session is named by the agent that is in it', () => {
  it('as it is bound now, else by the newest one that was recorded', async () => {
    const { root, home, web, at, shop } = await house()
    await using _home = home
    await home.sessions.start({ id: 'first-1', agent: 'web/shop' })
    await home.sessions.start({ id: 'second-2', agent: 'web/shop', started_at: later })
    expect((await home.sessions.find('web/shop')).id).toBe('second-2')
    bind(root, web, 'first-1')
    expect((await home.sessions.find('Front end')).id).toBe('first-1')
    at.cwd = shop
    expect((await home.sessions.find('.')).id).toBe('first-1')
    expect((await home.history.turns('.')).session.id).toBe('first-1')
    expect((await home.sessions.query({ agent: 'Front end' })).sessions.map(({ id }) => id)).toHaveLength(2)
    expect((await home.events.read({ agent: '.', type: 'session_start' })).length).toBe(2)
  })

  it('also where the sessions of its chain are listed', async () => {
    const { home } = await house()
    await using _home = home
    await home.sessions.start({ id: 'first-1', agent: 'web/shop' })
    await home.sessions.start({ id: 'second-2', agent: 'web/shop', parent_id: 'first-1', started_at: later })
    await home.sessions.start({ id: 'other-3' })
    for (const chain_id of ['first-1', 'first', 'second', 'Front end']) {
      const { sessions } = await home.sessions.query({ chain_id })
      expect([chain_id, sessions.map(({ id }) => id)]).toEqual([chain_id, ['second-2', 'first-1']])
    }
    expect((await home.sessions.query({ chain_id: 'gone' })).sessions).toEqual([])
  })

  it('unless it has none, or its own id is begun', async () => {
    const { home } = await house()
    await using _home = home
    await home.sessions.start({ id: 'api-1234' })
    expect((await home.sessions.find('api')).id).toBe('api-1234')
    await expect(home.sessions.find('back/api')).rejects.toMatchObject({
      code: 'session-not-found',
      message: 'back/api has no session yet',
    })
    await expect(home.sessions.find('nobody')).rejects.toMatchObject({ message: 'No session matches "nobody"' })
  })

  it('but never where something is erased or recorded', async () => {
    const { home } = await house()
    await using _home = home
    await home.sessions.start({ id: 'first-1', agent: 'web/shop' })
    const unknown = { code: 'session-not-found' }
    await expect(home.privacy.purge({ session: 'web/shop' })).rejects.toMatchObject(unknown)
    await expect(home.sessions.end('web/shop', { outcome: 'done' })).rejects.toMatchObject(unknown)
  })
})

it('what names one agent names no other when more agents come, or the candidates are listed', () => {
  const name = fc.constantFrom('a', 'b', 'web/a', 'web/b', 'x/web/a', 'abcd', 'abcd/e')
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), name, (addresses, reference) => {
      const agents = addresses.map((address, at) => ({ id: `abcd${at}`, address, title: address }) as unknown as Agent)
      const named = agentsNamed(reference, agents, { directoryOf: () => undefined })
      const meant = named ?? agentsWithId(reference, agents, new Map())
      const exact = agents.filter(({ address }) => address === reference)
      if (exact.length > 0) expect(meant).toEqual(exact)
      for (const agent of meant) {
        expect(
          agent.address === reference || agent.address.endsWith(`/${reference}`) || agent.id.startsWith(reference),
        ).toBe(true)
      }
    }),
    { seed: 7 },
  )
})

const later = '2026-01-18T08:00:00.000Z' as never

/** As `src/lifecycle` writes it. */
function bind(root: string, agent: Agent, session: string): void {
  const directory = join(profileDirectory(root), 'agents')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${agent.id}.json`), JSON.stringify({ v: 1, agent: agent.id, binding: { session } }))
}

function uniqueBeginning(id: string, all: readonly string[]): string {
  let length = 4
  while (all.filter((one) => one.startsWith(id.slice(0, length))).length > 1) length += 1
  return id.slice(0, length)
}
