import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

async function withHome(body: (home: Home, clock: { ms: number }, root: string) => Promise<void>): Promise<void> {
  const root = scratch()
  const { home, clock } = await openTestHome(root)
  try {
    await body(home, clock, root)
  } finally {
    await home[Symbol.asyncDispose]()
  }
}

describe('a session', () => {
  it('that was known before anyone said what it was forked from is a fork all the same', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'source' })
      await home.sessions.start({ id: 'copy' })
      await home.sessions.start({ id: 'copy', forked_from: { session: 'source', turn: 2 }, mayExist: true })
      expect(await home.sessions.get('copy')).toMatchObject({ forked_from: { session: 'source', turn: 2 } })
      expect((await home.sessions.tree('source')).forks.map(({ session }) => session.id)).toEqual(['copy'])
      await home.index.rebuild()
      expect((await home.sessions.tree('source')).forks).toHaveLength(1)
    }))

  it('is recorded with everything it was started with, in its file as in the index', () =>
    withHome(async (home, _, root) => {
      await home.roster.add({ address: 'gastown/polecats/Toast', tool: 'claude', role: 'polecat' })
      const facts = {
        title: 'Fix it',
        tmux_session: 'gt-Toast',
        work_unit: 'gt-xyz',
        molecule_id: 'm-1',
        step_ref: 's-1',
        cwd: '/src',
        branch: 'main',
        model: 'big',
        commits: ['abc'],
      }
      const session = await home.sessions.start({ id: 'abc-123', agent: 'gastown/polecats/Toast', ...facts })
      const agent = await home.roster.agent('gastown/polecats/Toast')
      const expected = {
        id: 'abc-123',
        chain_id: 'abc-123',
        agent: agent.address,
        agent_id: agent.id,
        rig: 'gastown',
        role: 'polecat',
        tool: 'claude',
        host: 'here',
        started_at: '2026-01-17T08:00:00.000Z',
        ...facts,
      }
      expect(session).toEqual(expected)
      expect(await home.sessions.get('abc-123')).toEqual(expected)
      const { v, through, ...file } = JSON.parse(
        readFileSync(join(profileDirectory(root), 'sessions', 'abc-123.json'), 'utf8'),
      )
      expect(file).toEqual(expected)
      expect([v, typeof through]).toEqual([1, 'string'])
    }))

  it('begins a chain, hands it on, and the successor inherits work and place', () =>
    withHome(async (home, clock) => {
      await home.sessions.start({ id: 'one', work_unit: 'w-1', cwd: '/src', title: 'work', agent: 'web/kim' })
      clock.ms += 60_000
      const two = await home.sessions.handoff('one', { id: 'two', subject: 'context is full' })
      expect(two).toMatchObject({
        chain_id: 'one',
        parent_id: 'one',
        link: 'handoff',
        work_unit: 'w-1',
        cwd: '/src',
        agent: 'web/kim',
      })
      expect(await home.sessions.get('one')).toMatchObject({
        outcome: 'handoff',
        child_id: 'two',
        ended_at: '2026-01-17T08:01:00.000Z',
      })
      clock.ms += 30_000
      const [chain] = await home.sessions.chain('two')
      expect(chain).toMatchObject({ chain_id: 'one', work_units: ['w-1'], duration_ms: 90_000 })
      expect(chain?.ended_at).toBeUndefined()
      expect((await home.events.read({ type: 'handoff' }))[0]).toMatchObject({
        session: 'one',
        payload: { child_id: 'two', subject: 'context is full' },
      })
    }))

  it('that crashed keeps its chain when it is started again', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'one', agent: 'web/kim' })
      await home.sessions.end('one', { outcome: 'crash', reason: 'pane died' })
      expect(await home.sessions.start({ id: 'two', parent_id: 'one' })).toMatchObject({
        chain_id: 'one',
        link: 'crash',
        agent: 'web/kim',
      })
      expect(await home.sessions.get('one')).toMatchObject({ outcome: 'crash', reason: 'pane died', child_id: 'two' })
    }))

  it('that was still thought active ends when its respawn or its clear is reported', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'one' })
      await home.sessions.start({ id: 'two', parent_id: 'one', link: 'clear' })
      await home.sessions.start({ id: 'three', parent_id: 'two', link: 'crash' })
      expect([(await home.sessions.get('one'))?.outcome, (await home.sessions.get('two'))?.outcome]).toEqual([
        'clear',
        'crash',
      ])
      expect((await home.sessions.chain('one'))[0]?.sessions.map((session) => session.id)).toEqual(
        ['one', 'three', 'two'].sort(),
      )
    }))

  it('is titled by its own first prompt after a clear, and as before after a handoff', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'one', title: 'Fix the login', work_unit: 'wk-1' })
      const cleared = await home.sessions.handoff('one', { id: 'two', link: 'clear' })
      expect([cleared.title, cleared.work_unit]).toEqual([undefined, 'wk-1'])
      await home.sessions.update('two', { title: 'Other work' })
      expect(await home.sessions.handoff('two', { id: 'three' })).toMatchObject({ title: 'Other work' })
      const again = await home.sessions.start({ id: 'four', parent_id: 'three', link: 'clear' })
      expect(again.title).toBeUndefined()
    }))

  it('that is forked begins a chain of its own and leaves its origin as it was', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'one' })
      const fork = await home.sessions.start({ id: 'fork', forked_from: { session: 'one', turn: 7 } })
      expect(fork).toMatchObject({ chain_id: 'fork', forked_from: { session: 'one', turn: 7 } })
      expect(fork.parent_id).toBeUndefined()
      expect((await home.sessions.get('one'))?.child_id).toBeUndefined()
      expect(await home.sessions.tree('fork')).toMatchObject({
        session: { id: 'one' },
        forks: [{ session: { id: 'fork' } }],
      })
    }))

  it('of a chain of any length has a tree, which ends in the number of those it leaves out', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 's0' })
      for (let n = 1; n <= 260; n += 1) await home.sessions.handoff(`s${n - 1}`, { id: `s${n}` })
      await home.sessions.start({ id: 'fork', forked_from: { session: 's3', turn: 1 } })
      await home.sessions.start({ id: 'late', forked_from: { session: 's250', turn: 1 } })
      const root = await home.sessions.tree('s260')
      let [levels, deepest] = [1, root]
      for (; deepest.continued_by; levels += 1) deepest = deepest.continued_by
      expect([levels, deepest.session.id, deepest.more]).toEqual([201, 's200', 61])
      expect(root.continued_by?.continued_by?.continued_by?.forks.map(({ session }) => session.id)).toEqual(['fork'])
    }))

  it('that ended can be resumed under its own id, unless another continues it', () =>
    withHome(async (home) => {
      await home.sessions.start({ id: 'one' })
      await home.sessions.end('one', { outcome: 'exit' })
      const again = await home.sessions.start({ id: 'one', resume: true })
      expect([again.outcome, again.ended_at]).toEqual([undefined, undefined])
      await home.sessions.handoff('one', { id: 'two' })
      await expect(home.sessions.start({ id: 'one', resume: true })).rejects.toMatchObject({
        code: 'illegal-transition',
      })
    }))

  it('remembers its steps, and which one is open', () =>
    withHome(async (home, clock) => {
      await home.sessions.start({ id: 'one' })
      expect(
        (await home.sessions.step('one', { step_ref: 'build', molecule_id: 'm', state: 'started' })).step_ref,
      ).toBe('build')
      clock.ms += 1_000
      const done = await home.sessions.step('one', { step_ref: 'build', state: 'completed', success: false })
      expect(done.step_ref).toBeUndefined()
      expect(done.steps).toEqual([
        {
          step_ref: 'build',
          molecule_id: 'm',
          started_at: '2026-01-17T08:00:00.000Z',
          completed_at: '2026-01-17T08:00:01.000Z',
          success: false,
        },
      ])
      expect((await home.events.read({ type: 'session_step_*' })).map((event) => event.type)).toEqual([
        'session_step_started',
        'session_step_completed',
      ])
    }))
})

describe('what a session may not do', () => {
  const refused: [string, string, (home: Home) => Promise<unknown>][] = [
    ['start twice', 'session-exists', (home) => home.sessions.start({ id: 'active' })],
    ['start under the id of an ended one', 'session-exists', (home) => home.sessions.start({ id: 'ended' })],
    ['end twice', 'illegal-transition', (home) => home.sessions.end('ended', { outcome: 'done' })],
    [
      'end in a way that does not exist',
      'bad-input',
      (home) => home.sessions.end('active', { outcome: 'vanished' as 'done' }),
    ],
    ['hand off after its end', 'illegal-transition', (home) => home.sessions.handoff('ended', {})],
    ['hand off to a session that exists', 'session-exists', (home) => home.sessions.handoff('active', { id: 'ended' })],
    ['be continued twice', 'illegal-transition', (home) => home.sessions.start({ parent_id: 'continued' })],
    ['continue one that does not exist', 'session-not-found', (home) => home.sessions.start({ parent_id: 'nobody' })],
    [
      'fork one that does not exist',
      'session-not-found',
      (home) => home.sessions.start({ forked_from: { session: 'nobody' } }),
    ],
    ['fork at turn 0', 'bad-input', (home) => home.sessions.start({ forked_from: { session: 'active', turn: 0 } })],
    [
      'fork and continue',
      'bad-input',
      (home) => home.sessions.start({ parent_id: 'ended', forked_from: { session: 'active' } }),
    ],
    [
      'complete a step it never started',
      'illegal-transition',
      (home) => home.sessions.step('active', { step_ref: 'x', state: 'completed' }),
    ],
    ['resume while it is active', 'illegal-transition', (home) => home.sessions.start({ id: 'active', resume: true })],
    ['resume when it never was', 'session-not-found', (home) => home.sessions.start({ id: 'nobody', resume: true })],
    ['have an id that is a path', 'bad-id', (home) => home.sessions.start({ id: '../../etc/passwd' })],
    ['have an empty id', 'bad-id', (home) => home.sessions.start({ id: '' })],
    ['have an id with an escape sequence', 'bad-id', (home) => home.sessions.start({ id: 'a\x1b[31m' })],
    ['have an id of 200 characters', 'bad-id', (home) => home.sessions.start({ id: 'a'.repeat(200) })],
    ['belong to an agent that is a path', 'bad-address', (home) => home.sessions.start({ agent: '../x' })],
    ['be found by nothing', 'session-not-found', (home) => home.sessions.find('')],
    ['be found by a prefix of two', 'ambiguous-id', (home) => home.sessions.find('twin')],
    ['be listed by the thousand million', 'bad-input', (home) => home.sessions.query({ limit: 1e9 })],
    ['be listed from a made-up cursor', 'bad-input', (home) => home.sessions.query({ cursor: 'nonsense' })],
  ]
  for (const [what, code, attempt] of refused) {
    it(`${what} (${code}), and the try leaves no trace`, () =>
      withHome(async (home) => {
        await home.sessions.start({ id: 'active' })
        await home.sessions.start({ id: 'ended' })
        await home.sessions.end('ended', { outcome: 'done' })
        await home.sessions.start({ id: 'continued' })
        await home.sessions.handoff('continued', { id: 'twin-a' })
        await home.sessions.start({ id: 'twin-b' })
        const before = (await home.events.read()).length
        await expect(attempt(home)).rejects.toMatchObject({
          name: 'SkeinError',
          code,
          next: expect.stringMatching(/./),
        })
        expect((await home.events.read()).length).toBe(before)
      }))
  }

  it('changes of the same moment go to the disk together, and each still succeeds or fails by itself', () =>
    withHome(async (home) => {
      const tries = Array.from({ length: 50 }, (_, n) => home.sessions.start({ id: `s${n % 25}` }))
      const settled = await Promise.allSettled(tries)
      expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(25)
      expect((await home.sessions.query({ limit: 100 })).sessions).toHaveLength(25)
      expect((await home.index.check()).problems).toEqual([])
    }))

  it('whatever is asked of them, chains never form a ring and every continuation knows its predecessor', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(fc.constantFrom('start', 'handoff', 'end', 'fork', 'follow', 'resume'), fc.nat(5), fc.nat(5)),
          { maxLength: 30, size: 'max' },
        ),
        (steps) =>
          withHome(async (home) => {
            for (const [what, a, b] of steps) {
              const [id, other] = [`s${a}`, `s${b}`]
              const work = {
                start: () => home.sessions.start({ id }),
                handoff: () => home.sessions.handoff(id, { id: other }),
                end: () => home.sessions.end(id, { outcome: 'crash' }),
                fork: () => home.sessions.start({ id, forked_from: { session: other } }),
                follow: () => home.sessions.start({ id, parent_id: other }),
                resume: () => home.sessions.start({ id, resume: true }),
              }[what as 'start']
              await work().catch((error: { name: string }) => expect(error.name).toBe('SkeinError'))
            }
            const { sessions } = await home.sessions.query({ limit: 100 })
            const byId = new Map(sessions.map((session) => [session.id, session]))
            for (const session of sessions) {
              const predecessor = session.parent_id && byId.get(session.parent_id)
              if (predecessor)
                expect([predecessor.child_id, predecessor.chain_id]).toEqual([session.id, session.chain_id])
              else expect(session.chain_id).toBe(session.id)
              const seen = new Set([session.id])
              for (let at = session; at.parent_id; ) {
                at = byId.get(at.parent_id) as typeof session
                expect(seen.has(at.id)).toBe(false)
                seen.add(at.id)
              }
            }
          }),
      ),
      { numRuns: 40 },
    ))
})
