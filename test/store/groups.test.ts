import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { type Agent, flattenRoster, type Group, groupLineage } from '../../src/model/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

async function withHome(body: (home: Home, root: string) => Promise<void>, root = scratch()): Promise<void> {
  const { home } = await openTestHome(root)
  try {
    await body(home, root)
  } finally {
    await home[Symbol.asyncDispose]()
  }
}

const paths = async ({ roster }: Home): Promise<string[]> => (await roster.groups()).map(({ path }) => path)

/** Each row as `parent > name@depth`. */
const drawn = async ({ roster }: Home): Promise<string[]> =>
  (await roster.flatten()).map((row) => {
    const name = row.kind === 'group' ? `${row.group.path}/` : row.agent.address
    return `${row.parent ?? ''} > ${name}@${row.depth}${row.hidden ? ' hidden' : ''}`
  })

describe('a group', () => {
  it('has a display name, an order and a fold beside its path, which a rename of the path keeps', () =>
    withHome(async ({ roster, index }) => {
      await roster.createGroup('web')
      expect(await roster.updateGroup('web', { name: ' Web apps ', order: 7, expanded: false })).toEqual({
        path: 'web',
        name: 'Web apps',
        order: 7,
        expanded: false,
      })
      expect(await roster.renameGroup('web', 'sites')).toEqual({
        path: 'sites',
        name: 'Web apps',
        order: 7,
        expanded: false,
      })
      expect(await roster.updateGroup('sites', { name: '' })).toMatchObject({ name: 'sites', order: 7 })
      expect(await roster.renameGroup('sites', 'pages')).toMatchObject({ name: 'pages' })
      expect((await index.check()).problems).toEqual([])
      await index.rebuild()
      expect(await roster.groups()).toEqual([{ path: 'pages', name: 'pages', order: 7, expanded: false }])
    }))

  it('comes exactly where its order says, and a sibling that has the same number moves behind it', () =>
    withHome(async (home) => {
      for (const path of ['a', 'b', 'c', 'c/x', 'c/y']) await home.roster.createGroup(path)
      await home.roster.updateGroup('c', { order: 0 })
      expect(await paths(home)).toEqual(['c', 'c/x', 'c/y', 'a', 'b'])
      await home.roster.updateGroup('c/y', { order: 1 })
      await home.roster.updateGroup('a', { order: 999_999_999 })
      expect(await paths(home)).toEqual(['c', 'c/y', 'c/x', 'b', 'a'])
      await expect(home.roster.updateGroup('b', { order: 999_999_999 })).rejects.toMatchObject({ code: 'bad-input' })
      expect(await paths(home)).toEqual(['c', 'c/y', 'c/x', 'b', 'a'])
    }))

  it('refuses what it cannot be, and stays as it was', () =>
    withHome(async ({ roster }) => {
      await roster.add({ address: 'web/api', tool: 'claude' })
      const before = await roster.groups()
      for (const [path, facts, refusal] of [
        ['wb', { order: 1 }, { code: 'group-not-found', message: 'No group wb', next: 'Did you mean web ?' }],
        ['web/api', { order: 1 }, { code: 'group-not-found', message: 'web/api is an agent, not a group' }],
        ['web//', { order: 1 }, { code: 'bad-address' }],
        ['web', { order: -1 }, { code: 'bad-input', message: '-1 is not a valid order' }],
        ['web', { order: 1e9 }, { code: 'bad-input', message: '1000000000 is not a valid order' }],
        ['web', { order: 1.5 }, { code: 'bad-input' }],
        ['web', { order: Number.NaN }, { code: 'bad-input' }],
        ['web', { name: 'a\x1b[2Jb' }, { code: 'bad-input', message: 'The name of a group has a control character' }],
        ['web', { name: 'a\nb' }, { code: 'bad-input' }],
        ['web', { name: '\u202egnp' }, { code: 'bad-input' }],
        ['web', { name: 'x'.repeat(101) }, { code: 'bad-input', message: 'The name of a group has 101 characters' }],
      ] as const)
        await expect(roster.updateGroup(path, facts), JSON.stringify([path, facts])).rejects.toMatchObject(refusal)
      expect(await roster.groups()).toEqual(before)
    }))

  it('keeps no secret in its name', () =>
    withHome(async ({ roster }) => {
      await roster.createGroup('web')
      const { name } = await roster.updateGroup('web', { name: 'with ghp_0123456789abcdefghijABCDEFGHIJ012345' })
      expect(name).not.toContain('ghp_0123456789')
    }))
})

describe('groups that differ only in case', () => {
  it('are refused, also those that an agent, a move or a rename would bring along', () =>
    withHome(async (home) => {
      const { roster } = home
      await roster.add({ address: 'web/mobile/api', tool: 'claude' })
      await roster.add({ address: 'größe/x', tool: 'claude' })
      await roster.add({ address: 'lab/y', tool: 'claude' })
      const twin = { code: 'group-exists', message: 'Web differs from the group web only in case', next: 'Use web' }
      await expect(roster.createGroup('Web')).rejects.toMatchObject(twin)
      await expect(roster.createGroup('Web/new')).rejects.toMatchObject(twin)
      await expect(roster.createGroup('web/MOBILE/x')).rejects.toMatchObject({ next: 'Use web/mobile' })
      await expect(roster.createGroup('GRÖSSE')).rejects.toMatchObject({ next: 'Use größe' })
      await expect(roster.add({ address: 'Web/b', tool: 'claude' })).rejects.toMatchObject(twin)
      await expect(roster.move('lab/y', 'Web')).rejects.toMatchObject(twin)
      await expect(roster.renameGroup('lab', 'Web')).rejects.toMatchObject(twin)
      await expect(roster.renameGroup('web/mobile', 'Web/phone')).rejects.toMatchObject(twin)
      await expect(roster.deleteGroup('lab', { moveTo: 'Web' })).rejects.toMatchObject(twin)
      expect(await paths(home)).toEqual(['web', 'web/mobile', 'größe', 'lab'])
    }))

  it('a rename may change the case of the group itself', () =>
    withHome(async (home) => {
      await home.roster.add({ address: 'web/mobile/api', tool: 'claude' })
      expect(await home.roster.renameGroup('web', 'Web')).toMatchObject({ path: 'Web', name: 'Web' })
      expect(await paths(home)).toEqual(['Web', 'Web/mobile'])
      expect((await home.index.check()).problems).toEqual([])
    }))

  it('of an older home stay as they are and take agents', async () => {
    const root = scratch()
    await withHome(async ({ roster }) => {
      await roster.add({ address: 'web/a', tool: 'claude' })
      await roster.add({ address: 'xeb/b', tool: 'claude' })
    }, root)
    asBefore(profileDirectory(root))
    await withHome(async (home) => {
      expect(await paths(home)).toEqual(['web', 'Web'])
      await home.roster.add({ address: 'Web/c', tool: 'claude' })
      await home.roster.move('Web/c', 'web')
      await expect(home.roster.createGroup('WEB')).rejects.toMatchObject({ code: 'group-exists' })
      expect((await home.index.check()).problems).toEqual([])
    }, root)
  })
})

/** As a version wrote it that did not compare names: `xeb` is `Web` in every file. */
function asBefore(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.name.startsWith('index')) rmSync(path)
    else if (entry.isFile() && /\.jsonl$|^roster/.test(entry.name))
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('xeb', 'Web'))
  }
}

describe('flatten', () => {
  it('gives groups and agents in display order, with depth and parent, empty groups too', () =>
    withHome(async (home) => {
      const { roster } = home
      await roster.add({ address: 'web/lead', tool: 'claude' })
      await roster.add({ address: 'web/worker', tool: 'codex', parent: 'web/lead' })
      await roster.add({ address: 'web/api/zed', tool: 'codex', parent: 'web/lead' })
      await roster.add({ address: 'web/alone', tool: 'codex' })
      await roster.createGroup('attic/old')
      await roster.add({ address: 'top', tool: 'pi' })
      await roster.updateGroup('attic', { order: 0, expanded: false })
      expect(await drawn(home)).toEqual([
        ' > attic/@0',
        'attic > attic/old/@1 hidden',
        ' > web/@0',
        'web > web/api/@1',
        'web/api > web/api/zed@2',
        'web > web/alone@1',
        'web > web/lead@1',
        'web/lead > web/worker@2',
        ' > top@0',
      ])
    }))

  it('gives every group and agent once, each after the row that contains it, whatever the roster', () => {
    const group = fc.constantFrom('a', 'a/b', 'a/b/c', 'd', 'd/e')
    const groups = fc.uniqueArray(fc.record({ path: group, name: group, expanded: fc.boolean(), order: fc.nat(3) }), {
      selector: ({ path }) => path,
    })
    const ids = ['1', '2', '3', '4', '5', '6']
    const agents = fc.tuple(
      ...ids.map((id) =>
        fc.record({
          id: fc.constant(id),
          group_path: fc.option(group, { nil: undefined }),
          parent_id: fc.option(fc.constantFrom(...ids), { nil: undefined }), // rings too: files may hold anything
        }),
      ),
    )
    fc.assert(
      fc.property(groups, agents, (someGroups, someAgents) => {
        const given = someAgents.map((agent) => ({
          ...agent,
          address: agent.group_path ? `${agent.group_path}/n${agent.id}` : `n${agent.id}`,
        }))
        const rows = flattenRoster(someGroups as unknown as Group[], given as unknown as Agent[])
        const names = rows.map((row) => (row.kind === 'group' ? row.group.path : row.agent.address) as string)
        const used = given.flatMap(({ group_path }) => group_path ?? [])
        const needed = [...someGroups.map(({ path }) => path), ...used].flatMap((path) => groupLineage(path as never))
        expect([...names].sort()).toEqual([...new Set([...needed, ...given.map(({ address }) => address)])].sort())
        for (const [at, { parent, depth }] of rows.entries()) {
          const before = parent === undefined ? -1 : names.indexOf(parent)
          expect(before).toBeLessThan(at)
          expect(depth).toBe(parent === undefined ? 0 : (rows[before]?.depth ?? -5) + 1)
        }
      }),
      { numRuns: 200 },
    )
  })
})
