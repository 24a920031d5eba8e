import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from './scratch.js'

/** A session of an agent, with a log of Claude Code that says what it cost. */
async function worked(
  home: Home,
  root: string,
  { id, agent, cwd, branch, model = 'claude-sonnet-4-5' }: Work,
): Promise<void> {
  const directory = join(root, '.claude', 'projects', '-srv')
  mkdirSync(directory, { recursive: true })
  const common = { sessionId: id, cwd, gitBranch: branch, isSidechain: false, version: '2.1.0' }
  const lines = [
    {
      ...common,
      type: 'user',
      uuid: `${id}-u`,
      parentUuid: null,
      message: { role: 'user', content: `ask about ${id}` },
    },
    {
      ...{ ...common, type: 'assistant', uuid: `${id}-a`, parentUuid: `${id}-u`, requestId: `r-${id}` },
      message: {
        ...{ id: `m-${id}`, type: 'message', role: 'assistant', model, content: [{ type: 'text', text: 'done' }] },
        usage: { input_tokens: 100_000, output_tokens: 0 },
      },
    },
  ]
  const text = lines.map((line) => JSON.stringify({ ...line, timestamp: '2026-01-17T07:00:00.000Z' })).join('\n')
  writeFileSync(join(directory, `${id}.jsonl`), `${text}\n`)
  await home.sessions.start({ id, cwd, branch, ...(agent === undefined ? {} : { agent }) })
}

interface Work {
  id: string
  agent?: string
  cwd: string
  branch: string
  model?: string
}

const ids = async (home: Home, filter: Parameters<Home['sessions']['query']>[0]): Promise<string[]> =>
  (await home.sessions.query(filter)).sessions.map(({ id }) => id as string).sort()

const keys = async (
  home: Home,
  by: 'agent' | 'project' | 'branch' | 'group',
): Promise<[string | undefined, number][]> =>
  (await home.history.cost({ by })).rows.map(({ key, micro_usd }) => [key, micro_usd])

describe('what an agent did before it was renamed or moved', () => {
  it('is shown, found and charged under the address it has now', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await using _ = home
    await home.roster.add({ address: 'web/api', tool: 'claude' })
    await worked(home, root, { id: 's1', agent: 'web/api', cwd: '/srv/api', branch: 'main' })
    await home.history.ingest()
    await home.roster.rename('web/api', 'server')
    await home.roster.move('web/server', 'back')
    expect(await home.sessions.get('s1')).toMatchObject({ agent: 'back/server' })
    expect((await home.sessions.query({})).sessions.map(({ agent }) => agent)).toEqual(['back/server'])
    expect((await home.sessions.chain('s1'))[0]?.sessions.map(({ agent }) => agent)).toEqual(['back/server'])
    expect(await keys(home, 'agent')).toEqual([['back/server', 300_000]])
    expect(await keys(home, 'group')).toEqual([['back', 300_000]])
    expect(await ids(home, { agent: 'back/server' })).toEqual(['s1'])
    expect(await ids(home, { rig: 'back' })).toEqual(['s1'])
    expect(await ids(home, { rig: 'web' })).toEqual([])
    const found = async (group: string) => (await home.history.search({ text: 'ask', group })).hits.length
    expect([await found('back'), await found('web')]).toEqual([1, 0])
    await home.roster.renameGroup('back', 'lab/back')
    expect(await ids(home, { rig: 'lab' })).toEqual(['s1'])
    expect([await found('lab'), await found('back')]).toEqual([1, 0])
    expect(await keys(home, 'group')).toEqual([['lab/back', 300_000]])
    await home.roster.move('lab/back/server', undefined)
    expect([await ids(home, { rig: 'lab' }), await ids(home, { rig: 'web' })]).toEqual([[], []])
    expect((await keys(home, 'group')).map(([group]) => group)).not.toContain('web')
    await home.roster.remove('server')
    expect(await ids(home, { rig: 'web' })).toEqual(['s1']) // of an agent that is gone, the group that it ran in
    expect([await found('web'), await found('lab')]).toEqual([1, 0])
    expect(await keys(home, 'group')).toEqual([['web', 300_000]])
    const told = await home.events.read({ type: 'session_start' })
    expect(told.map(({ agent }) => agent)).toEqual(['web/api']) // what was then stays
  })
})

describe('a directory', () => {
  it('narrows down sessions, search and cost, however it is spelt, and nothing beside it', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await using _ = home
    const [shop, link] = [join(root, 'shop'), join(root, 'link')]
    mkdirSync(join(shop, 'app'), { recursive: true })
    symlinkSync(shop, link)
    await worked(home, root, { id: 's1', cwd: shop, branch: 'main' })
    await worked(home, root, { id: 's2', cwd: join(shop, 'app'), branch: 'fix' })
    await worked(home, root, { id: 's3', cwd: `${shop}-old`, branch: 'main' })
    await home.history.ingest()
    for (const directory of [shop, `${shop}/`, link]) {
      expect(await ids(home, { directory })).toEqual(['s1', 's2'])
      expect((await home.history.cost({ directory })).total.calls).toBe(2)
      const { hits } = await home.history.search({ text: 'ask', directory })
      expect(hits.map(({ session }) => session as string).sort()).toEqual(['s1', 's2'])
    }
    expect((await home.history.cost({ directory: shop, noIndex: true })).total.calls).toBe(2)
    expect(await ids(home, { directory: join(shop, 'app') })).toEqual(['s2'])
    expect(await keys(home, 'project')).toEqual([
      [shop, 300_000],
      [`${shop}-old`, 300_000],
      [join(shop, 'app'), 300_000],
    ])
    expect(await keys(home, 'branch')).toEqual([
      ['fix', 300_000],
      ['main', 600_000],
    ])
  })
})
