import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionIndex } from '../../src/index/index.js'
import { type Event, type EventId, type Instant, nextEventId, type SessionId } from '../../src/model/index.js'
import { anyHistory } from '../model/history.js'

interface OpenedIndex {
  index: SessionIndex
  /** Folds events into it, as the write path of the backend does. */
  apply: (events: readonly Event[]) => Promise<void> | void
  close: () => Promise<void> | void
}

type OpenIndex = () => Promise<OpenedIndex>

let lastId: EventId | undefined
function event(type: string, session: string | undefined, payload: object, at = '2026-01-17T01:00:00.000Z'): Event {
  lastId = nextEventId(lastId, Date.parse(at), new Uint8Array(10))
  return {
    id: lastId,
    ts: at as Instant,
    type,
    actor: 'a',
    ...(session ? { session: session as SessionId } : {}),
    payload: payload as Event['payload'],
    visibility: 'both',
    host: 'h',
  }
}
const start = (id: string, facts: object = {}, at = '2026-01-17T01:00:00.000Z'): Event =>
  event('session_start', id, { started_at: at, chain_id: id, ...facts }, at)

const AGENT = {
  id: 'agent-1',
  address: 'web/toast',
  title: 'toast',
  group_path: 'web',
  tool: 'claude',
  created_at: '2026-01-17T01:00:00.000Z',
  updated_at: '2026-01-17T01:00:00.000Z',
}

/** Every row of an index, in an order that does not depend on the backend. */
export async function everything(index: SessionIndex): Promise<unknown> {
  const { sessions } = await index.list({ limit: 1_000 })
  const byId = [...sessions].sort((a, b) => (a.id < b.id ? -1 : 1))
  const lists = await Promise.all(
    ['ops', 'web', 'lab', 'ops/night'].map(async (rig) => (await index.list({ rig })).sessions.map((one) => one.id)),
  )
  const ids = byId.map((one) => one.id)
  return {
    byId,
    lists,
    agents: await index.agents(),
    groups: await index.groups(),
    items: await Promise.all(
      (['work', 'mail'] as const).map((kind) => index.items({ kind, order: 'newest', limit: 100 })),
    ),
    hooked: await Promise.all(
      ['a1', 'a2'].map((id) =>
        index.items({
          kind: 'work',
          agent: { id, address: 'web/kim' },
          isHooked: true,
          isSettled: false,
          order: 'urgent',
          limit: 9,
        }),
      ),
    ),
    unread: await index.countItems({ kind: 'mail', agent: { address: 'ops/kim' }, status: ['unread'] }),
    inGroup: await index.items({ kind: 'work', group: 'ops', order: 'urgent', limit: 9 }),
    counts: await index.counts(),
    places: new Map([...(await index.places())].sort(([a], [b]) => (a < b ? -1 : 1))),
    short: await index.shortIds(ids),
    chains: await Promise.all(ids.map((id) => index.chain(id))),
    forks: await Promise.all(ids.map((id) => index.forksOf(id))),
  }
}

/** What every backend of the session index must do. A second backend runs the same suite with one more line. */
export function describeSessionIndex(backend: string, open: OpenIndex): void {
  const using = async (body: (index: SessionIndex, apply: OpenedIndex['apply']) => Promise<void>): Promise<void> => {
    const { index, apply, close } = await open()
    try {
      await body(index, apply)
    } finally {
      await close()
    }
  }

  describe(`session index on ${backend}`, () => {
    it('lists a session under its agent once its start has been applied', () =>
      using(async (index, apply) => {
        await apply([start('one', { agent: 'web/toast' })])
        expect((await index.list({ agent: 'web/toast' })).sessions.map((session) => session.id)).toEqual(['one'])
        expect((await index.list({ agent: 'web/other' })).sessions).toEqual([])
      }))

    it('finds an agent’s sessions under the address it has now and the one it had then', () =>
      using(async (index, apply) => {
        await apply([
          event('agent_added', undefined, { agent: AGENT }),
          start('before', { agent: 'web/toast', agent_id: 'agent-1' }),
          event('agent_renamed', undefined, { agent_id: 'agent-1', from: 'web/toast', to: 'web/bread' }),
          start('after', { agent: 'web/bread', agent_id: 'agent-1' }, '2026-01-17T02:00:00.000Z'),
        ])
        expect((await index.list({ agent: 'web/bread' })).sessions.map((one) => one.id)).toEqual(['after', 'before'])
        expect((await index.list({ agent: 'web/toast' })).sessions.map((one) => one.id)).toEqual(['before'])
      }))

    it('answers each filter, newest first', () =>
      using(async (index, apply) => {
        const at = (hour: number): string => `2026-01-17T0${hour}:00:00.000Z`
        await apply([
          start(
            'a',
            {
              agent: 'web/ui/kim',
              rig: 'web',
              tool: 'claude',
              role: 'crew',
              work_unit: 'w-1',
              title: 'Fix the Login_page 100%',
            },
            at(1),
          ),
          start(
            'b',
            { agent: 'ops/lee', rig: 'ops', tool: 'codex', role: 'polecat', work_unit: 'w-1', title: 'login again' },
            at(2),
          ),
          start('c', { tool: 'claude', parent_id: 'b', link: 'handoff', chain_id: 'b', title: 'Ünïcode Größe' }, at(3)),
          event('session_end', 'c', { outcome: 'done', ended_at: at(4) }),
        ])
        const ids = async (query: Parameters<SessionIndex['list']>[0]): Promise<string[]> =>
          (await index.list(query)).sessions.map((one) => one.id)
        expect(await ids({})).toEqual(['c', 'b', 'a'])
        expect(await ids({ rig: 'web' })).toEqual(['a'])
        expect(await ids({ rig: 'web/ui' })).toEqual(['a'])
        expect(await ids({ rig: 'we' })).toEqual([])
        expect(await ids({ tool: 'claude' })).toEqual(['c', 'a'])
        expect(await ids({ role: 'polecat' })).toEqual(['b'])
        expect(await ids({ work_unit: 'w-1' })).toEqual(['b', 'a'])
        expect(await ids({ chain_id: 'b' })).toEqual(['c', 'b'])
        expect(await ids({ since: at(2) as Instant })).toEqual(['c', 'b'])
        expect(await ids({ until: at(2) as Instant })).toEqual(['a'])
        expect(await ids({ outcome: 'done' })).toEqual(['c'])
        expect(await ids({ outcome: 'handoff' })).toEqual(['b'])
        expect(await ids({ outcome: 'active' })).toEqual(['a'])
        expect(await ids({ title: 'LOGIN' })).toEqual(['b', 'a'])
        expect(await ids({ title: 'login_' })).toEqual(['a'])
        expect(await ids({ title: '0%' })).toEqual(['a'])
        expect(await ids({ title: '%' })).toEqual(['a'])
        expect(await ids({ text: 'LOGIN' })).toEqual(['b', 'a'])
        expect(await ids({ text: 'c' })).toEqual(['c'])
        expect(await ids({ text: 'a', title: 'login' })).toEqual(['b', 'a'])
        expect(await ids({ text: 'login', tool: 'codex' })).toEqual(['b'])
        expect(await ids({ title: '"' })).toEqual([])
        expect(await ids({ title: 'größe' })).toEqual(['c'])
        expect(await ids({ title: 'login', tool: 'codex', since: at(1) as Instant })).toEqual(['b'])
        expect(await ids({ rig: 'web', agent: 'web/ui/kim', title: 'fix' })).toEqual(['a'])
      }))

    it('pages through any list without a gap or a repeat, also when starts share a moment', () =>
      using(async (index, apply) => {
        const ids = Array.from({ length: 25 }, (_, n) => `s${String(n).padStart(2, '0')}`)
        await apply(ids.map((id) => start(id, { agent: 'ops/lee' })))
        for (const filter of [{}, { agent: 'ops/lee' }, { rig: 'ops' }]) {
          const seen: string[] = []
          for (let cursor: string | undefined; ; ) {
            const page = await index.list({ ...filter, limit: 7, ...(cursor ? { cursor } : {}) })
            seen.push(...page.sessions.map((one) => one.id))
            cursor = page.next_cursor
            if (!cursor) break
          }
          expect(seen).toEqual([...ids].reverse())
        }
      }))

    it('finds ids by prefix, whatever characters follow', () =>
      using(async (index, apply) => {
        await apply([start('ab'), start('ab-1'), start('abz'), start('b')])
        expect(await index.idsWithPrefix('ab', 10)).toEqual(['ab', 'ab-1', 'abz'])
        expect(await index.idsWithPrefix('ab', 2)).toHaveLength(2)
        expect(await index.idsWithPrefix('x', 10)).toEqual([])
      }))

    it('knows the forks of a session and the sessions of a chain, oldest first', () =>
      using(async (index, apply) => {
        await apply([
          start('root'),
          start('next', { parent_id: 'root', link: 'crash', chain_id: 'root' }, '2026-01-17T02:00:00.000Z'),
          start('fork', { forked_from: { session: 'root', turn: 3 } }, '2026-01-17T03:00:00.000Z'),
        ])
        expect((await index.chain('root' as SessionId)).map((one) => one.id)).toEqual(['root', 'next'])
        expect((await index.forksOf('root' as SessionId)).map((one) => one.id)).toEqual(['fork'])
        expect(await index.get('root' as SessionId)).toMatchObject({ outcome: 'crash', child_id: 'next' })
      }))

    it('names the chains of a work unit, oldest first', () =>
      using(async (index, apply) => {
        await apply([
          start('late', { work_unit: 'w-1' }, '2026-01-17T03:00:00.000Z'),
          start('early', { work_unit: 'w-1' }, '2026-01-17T01:00:00.000Z'),
          start('next', { work_unit: 'w-1', parent_id: 'early', chain_id: 'early' }, '2026-01-17T02:00:00.000Z'),
          start('other', { work_unit: 'w-2' }),
        ])
        expect(await index.chainsOfWork('w-1')).toEqual(['early', 'late'])
        expect(await index.chainsOfWork('w-3')).toEqual([])
      }))

    it('shortens an id to what no other session begins with, at least 8 characters, and never to a dash', () =>
      using(async (index, apply) => {
        await apply(['abcdefgh-1', 'abcdefgh-22', 'abcdefgh-23', 'x', 'zzzzzzzzzz'].map((id) => start(id)))
        const ids = ['abcdefgh-1', 'abcdefgh-22', 'abcdefgh-23', 'x', 'zzzzzzzzzz', 'zzzzzzzz-unknown']
        expect([...(await index.shortIds(ids)).values()]).toEqual([
          'abcdefgh-1',
          'abcdefgh-22',
          'abcdefgh-23',
          'x',
          'zzzzzzzz',
          'zzzzzzzz-u',
        ])
        expect(await index.shortIds([])).toEqual(new Map())
      }))

    it('says what each session is charged to, with the address that its agent has now', () =>
      using(async (index, apply) => {
        await apply([
          event('agent_added', undefined, { agent: AGENT }),
          start('one', { agent: 'web/toast', agent_id: 'agent-1', work_unit: 'w', cwd: '/srv', branch: 'main' }),
          start('two', { rig: 'ops', chain_id: 'one', parent_id: 'one' }),
          start('three', { agent: 'lone' }),
          event('agent_moved', undefined, { agent_id: 'agent-1', from: 'web/toast', to: 'lab/deep/toast' }),
        ])
        const none = { agent: null, group: null, work: null, project: null, branch: null }
        expect(await index.places()).toEqual(
          new Map([
            [
              'one',
              { agent: 'lab/deep/toast', group: 'lab/deep', chain: 'one', work: 'w', project: '/srv', branch: 'main' },
            ],
            ['two', { ...none, group: 'ops', chain: 'one' }],
            ['three', { ...none, agent: 'lone', chain: 'three' }],
          ]),
        )
      }))

    it('has the roster: agents by address, groups by path, and both together', () =>
      using(async (index, apply) => {
        expect(await index.counts()).toEqual({ sessions: 0, agents: 0 })
        await apply([
          event('agent_added', undefined, { agent: AGENT }),
          event('agent_added', undefined, {
            agent: { ...AGENT, id: 'agent-2', address: 'api', group_path: undefined },
          }),
          event('group_created', undefined, { path: 'ops' }),
          start('one'),
        ])
        expect((await index.agents()).map(({ address }) => address)).toEqual(['api', 'web/toast'])
        expect((await index.groups()).map(({ path }) => path)).toEqual(['ops', 'web'])
        expect(await index.counts()).toEqual({ sessions: 1, agents: 2 })
        const roster = await index.roster()
        expect(roster.at('web/toast' as never)).toMatchObject({ id: 'agent-1' })
        expect([...roster.groups.keys()].sort()).toEqual(['ops', 'web'])
        await apply([event('agent_removed', undefined, { agent_id: 'agent-1', address: 'web/toast' })])
        expect(await index.counts()).toEqual({ sessions: 1, agents: 1 })
        expect((await index.roster()).at('web/toast' as never)).toBeUndefined()
      }))

    it('lists sessions that work in a directory or below it, and not beside it', () =>
      using(async (index, apply) => {
        await apply([
          start('here', { cwd: '/srv/web' }, '2026-01-17T01:00:00.000Z'),
          start('below', { cwd: '/srv/web/ui' }, '2026-01-17T02:00:00.000Z'),
          start('beside', { cwd: '/srv/website' }, '2026-01-17T03:00:00.000Z'),
          start('nowhere', {}, '2026-01-17T04:00:00.000Z'),
        ])
        const ids = async (...directories: string[]): Promise<string[]> =>
          (await index.list({ directories })).sessions.map((one) => one.id)
        expect(await ids('/srv/web')).toEqual(['below', 'here'])
        expect(await ids('/srv/website', '/srv/web/ui')).toEqual(['beside', 'below'])
        expect(await ids('/')).toEqual(['beside', 'below', 'here'])
      }))

    it.each([0, -1, 1.5, 10_001])('refuses %s as a number of sessions', (limit) =>
      using(async (index) => {
        await expect(async () => index.list({ limit })).rejects.toMatchObject({ code: 'bad-input' })
      }),
    )

    it('refuses what is no cursor', () =>
      using(async (index) => {
        for (const cursor of ['', 'x', Buffer.from('[1]').toString('base64url')])
          await expect(async () => index.list({ cursor })).rejects.toMatchObject({ code: 'bad-input' })
      }))

    it('answers nothing for what it does not have', () =>
      using(async (index) => {
        expect(await index.get('none' as SessionId)).toBeUndefined()
        expect(await index.chain('none' as SessionId)).toEqual([])
        expect(await index.forksOf('none' as SessionId)).toEqual([])
        expect(await index.list({})).toEqual({ sessions: [] })
        expect([await index.agents(), await index.groups(), await index.places()]).toEqual([[], [], new Map()])
      }))

    it('does not change what it answered before', () =>
      using(async (index, apply) => {
        await apply([start('one', { title: 'before' })])
        const [before] = (await index.list({})).sessions
        await apply([event('session_update', 'one', { title: 'after' })])
        expect(before?.title).toBe('before')
        expect((await index.get('one' as SessionId))?.title).toBe('after')
      }))

    it('ends in the same state whether events come in one batch, one by one, or twice', () =>
      fc.assert(
        fc.asyncProperty(anyHistory(), async (events) => {
          const [batch, single, twice] = await Promise.all([open(), open(), open()])
          await batch.apply(events)
          for (const one of events) await single.apply([one])
          await twice.apply(events)
          await twice.apply(events)
          const expected = await everything(batch.index)
          expect(await everything(single.index)).toEqual(expected)
          expect(await everything(twice.index)).toEqual(expected)
          await Promise.all([batch.close(), single.close(), twice.close()])
        }),
        { numRuns: 150 },
      ))
  })
}
