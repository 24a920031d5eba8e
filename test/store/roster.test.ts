import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

async function withHome(body: (home: Home) => Promise<void>): Promise<void> {
  const { home } = await openTestHome(scratch())
  try {
    await body(home)
  } finally {
    await home[Symbol.asyncDispose]()
  }
}
const addresses = async (home: Home): Promise<string[]> => (await home.roster.agents()).map((agent) => agent.address)
const paths = async (home: Home): Promise<string[]> => (await home.roster.groups()).map((group) => group.path)

describe('agents and groups', () => {
  it('an agent brings its groups along and keeps its id through rename and move', () =>
    withHome(async (home) => {
      const agent = await home.roster.add({ address: 'projects/backend/api', tool: 'claude', title: 'The API' })
      expect(await paths(home)).toEqual(['projects', 'projects/backend'])
      expect(await home.roster.rename('projects/backend/api', 'server')).toMatchObject({
        id: agent.id,
        address: 'projects/backend/server',
        title: 'The API',
      })
      expect(await home.roster.move(agent.id, 'lab')).toMatchObject({
        id: agent.id,
        address: 'lab/server',
        group_path: 'lab',
      })
      const top = await home.roster.move(agent.id, undefined)
      expect([top.address, top.group_path]).toEqual(['server', undefined])
    }))

  it('a title that was only the name follows a rename', () =>
    withHome(async (home) => {
      await home.roster.add({ address: 'api', tool: 'claude' })
      expect(await home.roster.rename('api', 'server')).toMatchObject({ title: 'server' })
    }))

  it('a group that is renamed takes its sub-groups and agents along', () =>
    withHome(async (home) => {
      await home.roster.add({ address: 'projects/backend/api', tool: 'claude' })
      await home.roster.add({ address: 'projects/ui', tool: 'codex' })
      await home.roster.renameGroup('projects', 'work')
      expect(await addresses(home)).toEqual(['work/backend/api', 'work/ui'])
      await home.roster.renameGroup('work/backend', 'server')
      expect(await addresses(home)).toEqual(['work/server/api', 'work/ui'])
      expect(await paths(home)).toEqual(['work', 'work/server'])
    }))

  it('a group with agents is deleted only when they are moved', () =>
    withHome(async (home) => {
      await home.roster.add({ address: 'old/deep/api', tool: 'claude' })
      await home.roster.add({ address: 'old/ui', tool: 'claude' })
      await expect(home.roster.deleteGroup('old')).rejects.toMatchObject({
        code: 'group-not-empty',
        message: 'Group old has 2 agents',
      })
      await expect(home.roster.deleteGroup('old', { moveTo: 'old/deep' })).rejects.toMatchObject({ code: 'bad-input' })
      expect(await home.roster.deleteGroup('old', { moveTo: 'new' })).toEqual({ moved: 2 })
      expect(await addresses(home)).toEqual(['new/api', 'new/ui'])
      expect(await paths(home)).toEqual(['new'])
      await home.roster.createGroup('empty/inside')
      expect(await home.roster.deleteGroup('empty')).toEqual({ moved: 0 })
    }))

  it('two agents that would meet at one address stop a move', () =>
    withHome(async (home) => {
      for (const address of ['a/x', 'b/x', 'c/x', 'c/d/x']) await home.roster.add({ address, tool: 'claude' })
      await expect(home.roster.move('a/x', 'b')).rejects.toMatchObject({ code: 'agent-exists' })
      await expect(home.roster.deleteGroup('a', { moveTo: 'b' })).rejects.toMatchObject({ code: 'agent-exists' })
      await expect(home.roster.deleteGroup('c', { moveTo: 'new' })).rejects.toMatchObject({ code: 'agent-exists' })
      await expect(home.roster.renameGroup('a', 'b')).rejects.toMatchObject({ code: 'group-exists' })
      await expect(home.roster.renameGroup('c', 'c/d')).rejects.toMatchObject({ code: 'group-exists' })
      await expect(home.roster.renameGroup('c', 'c/e/f')).rejects.toMatchObject({ code: 'illegal-transition' })
    }))

  it('a group cannot take the path of an agent, whatever would bring it along', () =>
    withHome(async (home) => {
      for (const address of ['web/shop', 'back/api']) await home.roster.add({ address, tool: 'claude' })
      const taken = { code: 'agent-exists', message: 'There is already an agent web/shop' }
      for (const group of ['web/shop', 'web/shop/deep']) {
        await expect(home.roster.move('back/api', group)).rejects.toMatchObject(taken)
        await expect(home.roster.createGroup(group)).rejects.toMatchObject(taken)
        await expect(home.roster.renameGroup('back', group)).rejects.toMatchObject(taken)
        await expect(home.roster.deleteGroup('back', { moveTo: group })).rejects.toMatchObject(taken)
        await expect(home.roster.add({ address: `${group}/x`, tool: 'claude' })).rejects.toMatchObject(taken)
      }
      expect(await addresses(home)).toEqual(['back/api', 'web/shop'])
      expect(await paths(home)).toEqual(['web', 'back'])
    }))

  it('an agent cannot descend from itself, and children of a removed one lose their parent', () =>
    withHome(async (home) => {
      for (const address of ['a', 'b', 'c']) await home.roster.add({ address, tool: 'claude' })
      await home.roster.setParent('b', 'a')
      await home.roster.setParent('c', 'b')
      await expect(home.roster.setParent('a', 'c')).rejects.toMatchObject({ code: 'illegal-transition' })
      await expect(home.roster.setParent('a', 'a')).rejects.toMatchObject({ code: 'illegal-transition' })
      await home.roster.remove('b')
      expect((await home.roster.agent('c')).parent_id).toBeUndefined()
    }))

  it('names that are no names are refused with a reason', () =>
    withHome(async (home) => {
      for (const address of [
        '',
        '/',
        'a/',
        '/a',
        'a//b',
        '.',
        '..',
        'a/../b',
        '-x',
        'a b',
        'a\nb',
        'a\x1b[0m',
        'x'.repeat(65),
        Array(9).fill('a').join('/'),
        '\u202egnp',
      ]) {
        await expect(home.roster.add({ address, tool: 'claude' })).rejects.toMatchObject({ code: 'bad-address' })
      }
      expect(await home.roster.add({ address: 'größe/日本語', tool: 'claude' })).toMatchObject({ group_path: 'größe' })
      await expect(home.roster.rename('größe/日本語', 'a/b')).rejects.toMatchObject({ code: 'bad-address' })
      await expect(home.roster.agent('größe/日本')).rejects.toMatchObject({
        code: 'agent-not-found',
        next: 'Did you mean größe/日本語 ?',
      })
    }))

  it('whatever is done to the tree, every agent is in a group that exists and at an address of its own', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.nat(6),
            fc.constantFrom('a', 'b', 'a/b', 'c/d'),
            fc.constantFrom('a', 'b', 'a/b', 'c'),
            fc.constantFrom('x', 'y'),
          ),
          { maxLength: 25, size: 'max' },
        ),
        (steps) =>
          withHome(async (home) => {
            for (const [what, group, other, name] of steps) {
              const work = [
                () => home.roster.add({ address: `${group}/${name}`, tool: 'claude' }),
                () => home.roster.move(`${group}/${name}`, other),
                () => home.roster.rename(`${group}/${name}`, name === 'x' ? 'y' : 'x'),
                () => home.roster.renameGroup(group, other),
                () => home.roster.deleteGroup(group, { moveTo: other }),
                () => home.roster.createGroup(group),
                () => home.roster.remove(`${group}/${name}`),
              ][what]
              await work?.().catch((error: { name: string }) => expect(error.name).toBe('SkeinError'))
            }
            const agents = await home.roster.agents()
            const groups = new Set(await paths(home))
            expect(new Set(agents.map((agent) => agent.address)).size).toBe(agents.length)
            for (const agent of agents)
              expect(agent.group_path === undefined || groups.has(agent.group_path)).toBe(true)
            for (const path of groups)
              expect(!path.includes('/') || groups.has(path.slice(0, path.lastIndexOf('/')))).toBe(true)
            expect((await home.index.check()).problems).toEqual([])
          }),
      ),
      { numRuns: 40 },
    ))
})
