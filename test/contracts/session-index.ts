import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SessionIndex } from '../../src/index/index.js'
import { type Event, type EventId, type Instant, nextEventId, type SessionId } from '../../src/model/index.js'
import { anyHistory } from '../model/history.js'

type OpenIndex = () => Promise<{ index: SessionIndex; close: () => Promise<void> | void }>

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

/** Every row of an index, in an order that does not depend on the backend. */
async function everything(index: SessionIndex): Promise<unknown> {
  const { sessions } = await index.list({ limit: 1_000 })
  const byId = [...sessions].sort((a, b) => (a.id < b.id ? -1 : 1))
  const lists = await Promise.all(
    ['ops', 'web', 'lab', 'ops/night'].map(async (rig) => (await index.list({ rig })).sessions.map((one) => one.id)),
  )
  return { byId, lists, agents: await index.agents(), groups: await index.groups() }
}

/** What every backend of the session index must do. A second backend runs the same suite with one more line. */
export function describeSessionIndex(backend: string, open: OpenIndex): void {
  const using = async (body: (index: SessionIndex) => Promise<void>): Promise<void> => {
    const { index, close } = await open()
    try {
      await body(index)
    } finally {
      await close()
    }
  }

  describe(`session index on ${backend}`, () => {
    it('lists a session under its agent once its start has been applied', () =>
      using(async (index) => {
        await index.apply([start('one', { agent: 'web/toast' })])
        expect((await index.list({ agent: 'web/toast' })).sessions.map((session) => session.id)).toEqual(['one'])
        expect((await index.list({ agent: 'web/other' })).sessions).toEqual([])
      }))

    it('finds an agent’s sessions under the address it has now and the one it had then', () =>
      using(async (index) => {
        const agent = {
          id: 'agent-1',
          address: 'web/toast',
          title: 'toast',
          group_path: 'web',
          tool: 'claude',
          created_at: '2026-01-17T01:00:00.000Z',
          updated_at: '2026-01-17T01:00:00.000Z',
        }
        await index.apply([
          event('agent_added', undefined, { agent }),
          start('before', { agent: 'web/toast', agent_id: 'agent-1' }),
          event('agent_renamed', undefined, { agent_id: 'agent-1', from: 'web/toast', to: 'web/bread' }),
          start('after', { agent: 'web/bread', agent_id: 'agent-1' }, '2026-01-17T02:00:00.000Z'),
        ])
        expect((await index.list({ agent: 'web/bread' })).sessions.map((one) => one.id)).toEqual(['after', 'before'])
        expect((await index.list({ agent: 'web/toast' })).sessions.map((one) => one.id)).toEqual(['before'])
      }))

    it('answers each filter, newest first', () =>
      using(async (index) => {
        const at = (hour: number): string => `2026-01-17T0${hour}:00:00.000Z`
        await index.apply([
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
      using(async (index) => {
        const ids = Array.from({ length: 25 }, (_, n) => `s${String(n).padStart(2, '0')}`)
        await index.apply(ids.map((id) => start(id, { agent: 'ops/lee' })))
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
      using(async (index) => {
        await index.apply([start('ab'), start('ab-1'), start('abz'), start('b')])
        expect(await index.idsWithPrefix('ab', 10)).toEqual(['ab', 'ab-1', 'abz'])
        expect(await index.idsWithPrefix('ab', 2)).toHaveLength(2)
        expect(await index.idsWithPrefix('x', 10)).toEqual([])
      }))

    it('knows the forks of a session and the sessions of a chain, oldest first', () =>
      using(async (index) => {
        await index.apply([
          start('root'),
          start('next', { parent_id: 'root', link: 'crash', chain_id: 'root' }, '2026-01-17T02:00:00.000Z'),
          start('fork', { forked_from: { session: 'root', turn: 3 } }, '2026-01-17T03:00:00.000Z'),
        ])
        expect((await index.chain('root' as SessionId)).map((one) => one.id)).toEqual(['root', 'next'])
        expect((await index.forksOf('root' as SessionId)).map((one) => one.id)).toEqual(['fork'])
        expect(await index.get('root' as SessionId)).toMatchObject({ outcome: 'crash', child_id: 'next' })
      }))

    it('ends in the same state whether events come in one batch, one by one, or twice', () =>
      fc.assert(
        fc.asyncProperty(anyHistory(), async (events) => {
          const [batch, single, twice] = await Promise.all([open(), open(), open()])
          await batch.index.apply(events)
          for (const one of events) await single.index.apply([one])
          await twice.index.apply(events)
          await twice.index.apply(events)
          const expected = await everything(batch.index)
          expect(await everything(single.index)).toEqual(expected)
          expect(await everything(twice.index)).toEqual(expected)
          await Promise.all([batch.close(), single.close(), twice.close()])
        }),
        { numRuns: 150 },
      ))
  })
}
