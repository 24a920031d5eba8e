import { describe, expect, it } from 'vitest'
import type { Binding, LiveRun } from '../../src/lifecycle/index.js'
import { judgeIdentity } from '../../src/lifecycle/status/identity.js'
import { instantOf, parseAgentId, parseSessionId } from '../../src/model/index.js'
import type { PaneId } from '../../src/terminal/index.js'
import { eventually, workshop } from './workshop.js'

const at = (seconds: number) => instantOf(Date.UTC(2026, 0, 17, 8) + seconds * 1_000)
const OLD = parseSessionId('old-session')
const NEW = parseSessionId('new-session')
const RUN: LiveRun = {
  id: 'r1',
  socket: { name: 'skein' },
  tmux_session: 'toast',
  pane: '%1' as PaneId,
  pid: 100,
  started_at: at(0),
  port: 1,
  how: 'new',
}
const BOUND: Binding = { session: OLD, since: at(0), how: 'chosen', is_confirmed: true }
const CHOSEN: Binding = { ...BOUND, is_confirmed: false }
const claim = (facts: object = {}) => ({
  session: NEW,
  how: 'clear' as const,
  at: at(10),
  run: 'r1',
  pid: 100,
  ...facts,
})

describe('whose word is believed', () => {
  it.each([
    ['clear', 'clear'],
    ['resume', 'resume'],
    ['compact', 'compact'],
    ['fork', 'fork'],
    ['registry', 'captured'],
  ] as const)('the program itself may move to another conversation by %s', (how, as) => {
    expect(judgeIdentity(RUN, BOUND, claim({ how }), {})).toMatchObject({
      kind: 'rebind',
      from: OLD,
      binding: { session: NEW, how: as, since: at(10) },
    })
  })

  it('a program that begins another conversation, and says no more than that it starts, has left the one it was in', () => {
    const bound = { kind: 'rebind', from: OLD, binding: { session: NEW, how: 'clear' } }
    expect(judgeIdentity(RUN, BOUND, claim({ how: 'startup' }), { isInTree: true })).toMatchObject(bound)
    // Whoever says so without being known to be the program is not believed.
    expect(judgeIdentity(RUN, BOUND, claim({ how: 'startup', pid: undefined }), {}).kind).toBe('refuse')
  })

  it('a program that is given a prompt in another conversation is in that one, once it was in one', () => {
    const moved = { kind: 'rebind', from: OLD, binding: { session: NEW, how: 'resume' } }
    expect(judgeIdentity(RUN, BOUND, claim({ how: 'prompted' }), { isInTree: true })).toMatchObject(moved)
    expect(judgeIdentity(RUN, BOUND, claim({ how: 'prompted', pid: undefined }), {}).kind).toBe('refuse')
    expect(judgeIdentity(RUN, CHOSEN, claim({ how: 'prompted' }), { isInTree: true }).kind).toBe('refuse')
  })

  it('a message of a run that is over changes nothing', () => {
    expect(judgeIdentity(RUN, BOUND, claim({ run: 'r0' }), {})).toMatchObject({ kind: 'refuse', isForeign: true })
  })

  it('neither does one of a process elsewhere, nor of a program that the agent has started', () => {
    expect(judgeIdentity(RUN, BOUND, claim({ pid: 777 }), { isInTree: false })).toMatchObject({
      kind: 'refuse',
      isForeign: true,
    })
    expect(judgeIdentity(RUN, BOUND, claim({ pid: 101 }), { isInTree: true })).toMatchObject({
      kind: 'refuse',
      isForeign: true,
    })
    expect(judgeIdentity(RUN, BOUND, claim({ pid: 101 }), {})).toMatchObject({ kind: 'refuse', isForeign: true })
  })

  it('a program that starts itself again is known by the first word about the chosen conversation', () => {
    const first = judgeIdentity(RUN, CHOSEN, claim({ session: OLD, how: 'startup', pid: 103 }), { isInTree: true })
    expect(first).toMatchObject({ kind: 'same', programPid: 103, binding: { is_confirmed: true } })
    const program = { ...RUN, program_pid: 103 }
    expect(judgeIdentity(program, BOUND, claim({ pid: 103 }), { isInTree: true })).toMatchObject({ kind: 'rebind' })
    expect(judgeIdentity(program, BOUND, claim({ pid: 104 }), { isInTree: true })).toMatchObject({ kind: 'refuse' })
  })

  it('a resume that ended in another conversation does not lose the one that was to be resumed', () => {
    const resumed = { ...RUN, how: 'resume' as const }
    expect(judgeIdentity(resumed, CHOSEN, claim({ how: 'startup' }), {})).toMatchObject({
      kind: 'refuse',
      isForeign: false,
    })
  })

  it('a program that took no chosen id is in the conversation it says', () => {
    expect(judgeIdentity(RUN, CHOSEN, claim({ how: 'startup' }), {})).toMatchObject({
      kind: 'rebind',
      binding: { how: 'captured' },
    })
    expect(judgeIdentity(RUN, undefined, claim({ how: 'startup' }), {})).toMatchObject({
      kind: 'bind',
      binding: { how: 'startup' },
    })
  })

  it('a sub-agent that speaks from its own conversation does not take the agent along', () => {
    expect(judgeIdentity(RUN, BOUND, claim({ how: 'unchanged' }), {})).toMatchObject({
      kind: 'refuse',
      isForeign: false,
    })
  })

  it('of two agents in one conversation the one that had it first keeps it', () => {
    const other = { agent: parseAgentId('other'), address: 'web/butter', since: at(-60) }
    expect(judgeIdentity(RUN, BOUND, claim(), { other })).toMatchObject({
      kind: 'refuse',
      because: 'it is already the conversation of web/butter',
    })
    expect(judgeIdentity(RUN, BOUND, claim(), { other: { ...other, since: at(5) } })).toMatchObject({ kind: 'rebind' })
  })
})

describe('with a program', () => {
  it('a cleared conversation is followed, linked and resumed', async () => {
    const { agents, home, project, log } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    const first = agent.session_id ?? ''
    await agents.send('toast', 'clear')
    const [cleared] = await eventually(
      () => agents.list(),
      ([one]) => one?.session_id !== first,
    )
    expect(cleared?.session_id).toBe(`${first}-cleared`)
    expect(await home.sessions.find(first)).toMatchObject({ outcome: 'clear', child_id: `${first}-cleared` })
    expect(await home.sessions.get(`${first}-cleared`)).toMatchObject({
      parent_id: first,
      link: 'clear',
      agent: 'toast',
    })
    const [event] = await home.events.read({ type: 'identity_rebind' })
    expect(event?.payload).toMatchObject({ from: first, how: 'clear', evidence: { how: 'clear' } })
    await agents.restart('toast')
    expect(log().at(-1)).toMatchObject({ started: `${first}-cleared`, resumed: true })
  })

  it('a program that the agent runs in a shell does not steal its conversation', async () => {
    const { agents, home, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'child')
    const refusals = await eventually(
      async () => {
        await agents.list()
        return home.events.read({ type: 'identity_refuse' })
      },
      (events) => events.length > 0,
    )
    expect(refusals).toHaveLength(1)
    expect(refusals[0]?.payload).toMatchObject({ session: 'child-session', evidence: { pid: expect.any(Number) } })
    expect((await agents.list())[0]?.session_id).toBe(agent.session_id)
  })
})
