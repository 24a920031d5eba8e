import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NewEvent, StartOptions } from '../../src/home/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

const segment = (root: string): string => join(profileDirectory(root), 'events', '00000001.jsonl')
const HIGH = '01f00000-0000-7000-8000-00000000000'
const line = (fields: object, n = 1): string =>
  `${JSON.stringify({ id: `${HIGH}${n}`, ts: '2026-01-17T08:00:00.000Z', type: 'mail', actor: 'a', payload: {}, visibility: 'both', host: 'h', ...fields })}\n`
const start = (payload: object): object => ({
  type: 'session_start',
  session: 'bad',
  payload: { started_at: '2026-01-17T08:00:00.000Z', chain_id: 'bad', ...payload },
})
const AGENT = { id: 'x', address: 'x', title: 'x', tool: 'x', created_at: '2026-01-17T08:00:00.000Z' }

describe('a journal line that is no event', () => {
  it.each<[string, object]>([
    ['a text as payload', { payload: 'a text' }],
    ['a list as payload', { payload: [] }],
    ['an object as agent', { agent: {} }],
    ['a number as session', { session: 42 }],
    ['a time that is none', { ts: 'yesterday' }],
    ['a year before 1', { ts: '-000001-01-01T00:00:00.000Z' }],
    ['the year 0', { ts: '0000-01-01T00:00:00.000Z' }],
    ['a year beyond 9999', { ts: '+010000-01-01T00:00:00.000Z' }],
    ['a month that is none', { ts: '2026-13-01T00:00:00.000Z' }],
    ['a type of somebody else', { type: '__proto__' }],
    ['an id at the top of its range', { id: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }],
    ['a reference to nothing', { payload: { $blob: { sha256: 'a'.repeat(64), bytes: 1 } } }],
    ['a title that is a number', start({ title: 42 })],
    ['commits that are a text', start({ commits: 'abc' })],
    ['a directory that no system has', start({ cwd: 'a\0b' })],
    ['an address of ten thousand groups', start({ agent: 'a/'.repeat(10_000) })],
    ['a session that says it is another', { ...start({}), type: 'session_update', payload: { id: 'other' } }],
    ['a turn that is no number', start({ forked_from: { session: 'one', turn: '1e999' } })],
    [
      'an agent whose id is a path',
      { type: 'agent_added', payload: { agent: { ...AGENT, id: '../../x', updated_at: AGENT.created_at } } },
    ],
    ['an agent without a time', { type: 'agent_added', payload: { agent: AGENT } }],
    ['a group without a name', { type: 'group_created', payload: { path: '' } }],
  ])('is counted, kept and otherwise ignored: %s', async (_, fields) => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await home.sessions.start({ id: 'one', title: 'first' })
    appendFileSync(segment(root), line(fields))
    expect((await home.sessions.query({})).sessions.map(({ id }) => id)).toEqual(['one'])
    expect(await home.roster.agents()).toEqual([])
    expect((await home.events.stats()).unreadable_lines).toBe(1)
    expect(await home.index.check()).toMatchObject({ ok: true, unreadable_lines: 1 })
    expect((await home.events.feed()).length).toBeGreaterThan(0)
    await home.sessions.start({ id: 'two' })
    await home.index.rebuild()
    expect((await home.sessions.query({})).sessions.map(({ id }) => id).sort()).toEqual(['one', 'two'])
    await home.events.prune()
    expect(readFileSync(segment(root), 'utf8')).toContain(line(fields))
    await home[Symbol.asyncDispose]()
  })

  it('nested more deeply than anyone can walk is one', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await home.sessions.start({ id: 'one' })
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    appendFileSync(segment(root), line({ payload: { deep: 0 } }).replace('"deep":0', `"deep":${deep}`))
    expect((await home.events.stats()).unreadable_lines).toBe(1)
    expect(JSON.stringify(await home.events.read())).toContain('one')
    await home[Symbol.asyncDispose]()
  })

  it('with an id far ahead of those behind it does not hide them', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await home.sessions.start({ id: 'one' })
    appendFileSync(segment(root), line({}, 1).replace(HIGH, '00000000-0000-7000-8000-00000000000'))
    const damaged = readFileSync(segment(root), 'utf8').replace(/"id":"0/, '"id":"d')
    for (const id of ['two', 'three', 'four']) await home.sessions.start({ id })
    const rest = readFileSync(segment(root), 'utf8').split('\n').slice(2).join('\n')
    await home[Symbol.asyncDispose]()
    writeFileSync(segment(root), damaged + rest)
    for (const name of ['index.db', 'sessions']) rmSync(join(profileDirectory(root), name), { recursive: true })
    const again = await openTestHome(root)
    expect((await again.home.sessions.query({})).sessions.map(({ id }) => id).sort()).toEqual(['four', 'three', 'two'])
    expect((await again.home.events.stats()).unreadable_lines).toBe(1)
    await again.home[Symbol.asyncDispose]()
  })
})

describe('what no reader could use is refused when it is written', () => {
  const ring: Record<string, unknown> = {}
  ring.self = ring
  const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as Record<string, unknown>
  it.each<[string, object, string]>([
    ['a URL as payload', { payload: new URL('https://example.org') }, 'payload'],
    ['a Map as payload', { payload: new Map([['a', 1]]) }, 'payload'],
    ['a text as payload', { payload: 'text' }, 'payload'],
    ['a ring', { payload: ring }, 'payload'],
    ['a big integer', { payload: { n: 1n } }, 'payload'],
    ['three hundred levels', { payload: deep }, 'payload'],
    ['a time that is none', { ts: 'yesterday' }, 'ts'],
    ['a year before 1', { ts: '-000001-01-01T00:00:00.000Z' }, 'ts'],
    ['a year beyond 9999', { ts: '+010000-01-01T00:00:00.000Z' }, 'ts'],
    ['an object as agent', { agent: {} }, 'agent'],
    ['a number as session', { session: 42 }, 'session'],
    ['a type that is a number', { type: 42 }, 'type'],
  ])('as an event: %s', async (_, fields, field) => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await home.events.append({ type: 'mail' })
    const before = readFileSync(segment(root), 'utf8')
    const refused = home.events.append({ type: 'mail', ...fields } as NewEvent)
    await expect(refused).rejects.toMatchObject({ name: 'SkeinError', message: expect.stringContaining(field) })
    expect(readFileSync(segment(root), 'utf8')).toBe(before)
    await home[Symbol.asyncDispose]()
  })

  it.each<[string, object, string]>([
    ['a title that is a number', { title: 42 }, 'payload.title'],
    ['commits that are a text', { commits: 'abc' }, 'payload.commits'],
    ['a beginning that is no time', { started_at: 'yesterday' }, 'payload.started_at'],
    ['a directory that no system has', { cwd: 'a\0b' }, 'payload.cwd'],
    ['a turn that is infinite', { forked_from: { session: 'one', turn: Number.POSITIVE_INFINITY } }, 'turn'],
  ])('as a session: %s', async (_, options, field) => {
    const { home } = await openTestHome(scratch())
    await home.sessions.start({ id: 'one' })
    const refused = home.sessions.start({ id: 'bad', ...options } as StartOptions)
    await expect(refused).rejects.toMatchObject({ name: 'SkeinError', message: expect.stringContaining(field) })
    const both = await Promise.allSettled([
      home.sessions.start({ id: 'bad', ...options } as StartOptions),
      home.sessions.start({ id: 'good' }),
    ])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect((await home.sessions.query({})).sessions.map(({ id }) => id).sort()).toEqual(['good', 'one'])
    await home[Symbol.asyncDispose]()
  })
})

describe('somebody’s own words that look like a reference to a blob', () => {
  it.each<[string, Record<string, unknown>]>([
    ['one that is none', { $blob: 'mine' }],
    ['one among other keys', { $blob: { sha256: 'a'.repeat(64), bytes: 1 }, and: 'more' }],
    ['exactly one', { $blob: { sha256: 'a'.repeat(64), bytes: 1 } }],
  ])('come back as they were: %s', async (_, payload) => {
    const { home } = await openTestHome(scratch())
    await home.events.append({ type: 'mail', payload })
    expect((await home.events.read({ type: 'mail' })).map((event) => event.payload)).toEqual([payload])
    await home[Symbol.asyncDispose]()
  })
})

it('a checkpoint that is ahead of the journal does not keep later changes from counting', async () => {
  const root = scratch()
  const { home } = await openTestHome(root)
  await home.roster.add({ address: 'kim', tool: 'claude' })
  await home.sessions.start({ id: 'one' })
  await home[Symbol.asyncDispose]()
  const ahead = (path: string): void =>
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"through": ?"[^"]*"/, `"through": "${HIGH}1"`))
  ahead(join(profileDirectory(root), 'roster.json'))
  ahead(join(profileDirectory(root), 'sessions', 'one.json'))
  rmSync(join(profileDirectory(root), 'index.db'))
  const again = await openTestHome(root)
  await again.home.roster.add({ address: 'lee', tool: 'claude' })
  expect(await again.home.sessions.end('one', { outcome: 'done' })).toMatchObject({ outcome: 'done' })
  expect((await again.home.roster.agents()).map(({ address }) => address)).toEqual(['kim', 'lee'])
  await again.home[Symbol.asyncDispose]()
})
