import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { activityOf, decideStatus, mergeTold, type Sighting, waitToken } from '../../src/lifecycle/index.js'
import { toldAnswered } from '../../src/lifecycle/status/evidence.js'
import { type AgentStatus, type Evidence, instantOf, parseAgentId, STATUSES, WAITS } from '../../src/model/index.js'

const T0 = Date.UTC(2026, 0, 17, 8)
const at = (seconds: number) => instantOf(T0 + seconds * 1_000)
const AGENT = parseAgentId('0f3c9a12-agent')
const RUN = { started_at: at(0) }
const ALIVE: Evidence = { source: 'process', at: at(0), status: 'running' }
const STARTING: AgentStatus = { status: 'starting', since: at(0), source: 'process' }

const hook = (seconds: number, facts: Partial<Evidence>): Evidence => ({
  source: 'hook',
  at: at(seconds),
  status: 'running',
  ...facts,
})
const pane = (seconds: number, facts: Partial<Evidence>): Evidence => ({ ...hook(seconds, facts), source: 'pane' })
const finished = (seconds: number) => hook(seconds, { status: 'waiting', waiting_for: 'finished' })
const asks = (seconds: number, facts: Partial<Evidence> = {}) =>
  hook(seconds, { status: 'waiting', waiting_for: 'permission', ...facts })

function decide(seconds: number, facts: Partial<Sighting> = {}) {
  return decideStatus({
    agent: AGENT,
    now: at(seconds),
    run: RUN,
    previous: STARTING,
    told: [],
    ...facts,
    seen: [ALIVE, ...(facts.seen ?? [])],
  })
}
const statusOf = (seconds: number, facts: Partial<Sighting>) => decide(seconds, facts).status
const waiting = (since: number): AgentStatus => ({
  status: 'waiting',
  waiting_for: 'permission',
  since: at(since),
  source: 'hook',
})
const running = (since: number): AgentStatus => ({ status: 'running', since: at(since), source: 'hook' })

describe('who is believed', () => {
  it('the registry comes before a hook, and the hook says what is asked', () => {
    const registry: Evidence = { source: 'registry', at: at(10), status: 'waiting', waiting_for: 'permission' }
    const told = [asks(10.3, { waiting_for: 'plan', reason: 'ExitPlanMode' })]
    expect(statusOf(12, { seen: [registry], told })).toMatchObject({
      status: 'waiting',
      waiting_for: 'plan',
      reason: 'ExitPlanMode',
      source: 'registry',
      since: at(10),
    })
  })

  it('the registry heals a hook that was missed', () => {
    const registry: Evidence = { source: 'registry', at: at(20), status: 'idle' }
    expect(statusOf(21, { seen: [registry], told: [hook(10, {})], busy_at: at(10) })).toMatchObject({
      status: 'waiting',
      waiting_for: 'finished',
      since: at(20),
    })
  })

  it('a hook holds against a screen of the same moment, and for as long as nothing newer is seen', () => {
    expect(statusOf(11, { told: [hook(10, {})], seen: [pane(11, { status: 'idle' })] }).status).toBe('running')
    expect(statusOf(3_000, { told: [hook(10, {})] }).status).toBe('running')
  })

  it('work that a hook began ends by the screen only when the screen says so twice', () => {
    const told = [hook(10, {})]
    const idle = (seconds: number) => pane(seconds, { status: 'idle', rule: 'claude/idle@1' })
    const once = decide(20, { told, seen: [idle(20)], sample: pane(15, {}), previous: running(10) })
    expect(once.status.status).toBe('running')
    const twice = decide(21, { told, seen: [idle(21)], sample: idle(20), previous: running(10), busy_at: at(10) })
    expect(twice.status).toMatchObject({ status: 'waiting', waiting_for: 'finished', source: 'pane', since: at(21) })
    expect(twice.decided?.rule).toBe('claude/idle@1')
    const early = decide(13, { told: [hook(12.5, {})], seen: [idle(13)], sample: idle(12), previous: running(10) })
    expect(early.status.status).toBe('running')
  })

  it('a question that was answered in the pane is over when the screen shows work or a prompt', () => {
    const previous: AgentStatus = { status: 'waiting', waiting_for: 'permission', since: at(10), source: 'hook' }
    expect(statusOf(15, { told: [asks(10)], seen: [pane(15, {})], previous }).status).toBe('running')
    const idle = statusOf(15, { told: [asks(10)], seen: [pane(15, { status: 'idle' })], previous, busy_at: at(5) })
    expect(idle).toMatchObject({ status: 'waiting', waiting_for: 'finished' })
  })

  it('a question on the screen is seen although the title says idle', () => {
    const title: Evidence = { source: 'title', at: at(20), status: 'idle' }
    const asked = pane(20, { status: 'waiting', waiting_for: 'question', reason: 'Which one?' })
    expect(statusOf(20, { seen: [title, asked] })).toMatchObject({ status: 'waiting', waiting_for: 'question' })
    expect(statusOf(20, { seen: [title, pane(20, {})] }).status).toBe('idle')
  })

  it('an error stays although the prompt below it looks idle, and goes with the next turn', () => {
    const told = [hook(10, { status: 'error', trouble: 'usage-limit', reason: 'resets at 5pm' })]
    const seen = [pane(30, { status: 'idle' })]
    expect(statusOf(30, { told, seen })).toMatchObject({ status: 'error', trouble: 'usage-limit' })
    expect(statusOf(41, { told: [...told, hook(40, {})], seen }).status).toBe('running')
  })

  it('what an older run told is no evidence', () => {
    expect(statusOf(2, { told: [hook(-5, {})] }).status).toBe('starting')
  })
})

describe('when nobody knows', () => {
  it('a program has five seconds to start; after that an unknown screen is unknown, never idle', () => {
    const seen = [pane(3, { status: 'unknown' })]
    expect(statusOf(3, { seen }).status).toBe('starting')
    expect(statusOf(6, { seen })).toMatchObject({ status: 'unknown', reason: 'no rule matches this screen' })
  })

  it('a view that hides what the agent does changes nothing', () => {
    const viewer = pane(60, { status: 'unknown', rule: 'claude/transcript-viewer@1' })
    const verdict = decide(60, { seen: [viewer], previous: running(10) })
    expect(verdict).toMatchObject({ status: running(10), isPassing: true })
  })

  it('tmux that does not answer is shown as unknown and changes nothing', () => {
    const quiet: Evidence = { source: 'process', at: at(20), status: 'unknown', reason: 'tmux did not answer' }
    const verdict = decideStatus({
      agent: AGENT,
      now: at(20),
      run: RUN,
      previous: running(10),
      told: [],
      seen: [quiet],
    })
    expect(verdict.isPassing).toBe(true)
    expect(verdict.status).toMatchObject({ status: 'unknown', reason: 'tmux did not answer; it was running' })
    const told = [hook(19, {})]
    expect(
      decideStatus({ agent: AGENT, now: at(20), run: RUN, previous: running(10), told, seen: [quiet] }),
    ).toMatchObject({ isPassing: false, status: { status: 'running' } })
  })

  it('what was told long ago is not known to hold while tmux does not answer', () => {
    const silent: Evidence = { source: 'process', at: at(60), status: 'unknown', reason: 'tmux did not answer' }
    const told = [hook(19, {})]
    const verdict = decideStatus({ agent: AGENT, now: at(60), run: RUN, previous: running(19), told, seen: [silent] })
    expect(verdict).toMatchObject({
      isPassing: true,
      status: { status: 'unknown', reason: 'tmux did not answer; it was running' },
    })
  })

  it.each([
    ['dead-pane', 'exited 3'],
    ['tmux-gone', 'the tmux server is gone'],
    ['exited', 'the program is gone, its shell is left'],
  ] as const)('a program that is gone is gone, whatever it said last: %s', (trouble, reason) => {
    const process: Evidence = { source: 'process', at: at(2), status: 'error', trouble, reason }
    const verdict = decideStatus({
      agent: AGENT,
      now: at(2),
      run: RUN,
      previous: STARTING,
      told: [hook(1, {})],
      seen: [process],
    })
    expect(verdict.status).toMatchObject({ status: 'error', trouble, reason })
  })

  it('an agent that does not run keeps saying what ended it', () => {
    const previous: AgentStatus = {
      status: 'error',
      trouble: 'dead-pane',
      reason: 'exited 1',
      since: at(5),
      source: 'process',
    }
    const sighting = { agent: AGENT, now: at(60), previous, told: [hook(4, {})], seen: [] }
    expect(decideStatus(sighting).status).toEqual(previous)
    expect(decideStatus({ ...sighting, previous: running(4) }).status.status).toBe('stopped')
  })
})

describe('finished, and nobody has looked', () => {
  it('a finished reply waits until it is acknowledged, and the next one waits again', () => {
    expect(statusOf(20, { told: [finished(10)] })).toMatchObject({ waiting_for: 'finished', since: at(10) })
    expect(statusOf(30, { told: [finished(10)], acked_at: at(20) }).status).toBe('idle')
    expect(statusOf(50, { told: [finished(10), hook(40, {}), finished(45)], acked_at: at(20) })).toMatchObject({
      status: 'waiting',
      since: at(45),
    })
  })

  it('a turn that came and went while nobody looked has finished when it was told to have', () => {
    const idle = (seconds: number) => hook(seconds, { status: 'idle' })
    expect(statusOf(60, { told: [idle(1), hook(10, {}), idle(20), idle(50)] })).toMatchObject({
      status: 'waiting',
      waiting_for: 'finished',
      since: at(20),
    })
    expect(statusOf(60, { told: [idle(1)] }).status).toBe('idle')
  })

  it('a reminder that it is idle is no new reply', () => {
    const told = [finished(10), finished(70)]
    expect(statusOf(71, { told, acked_at: at(30), turn_end: { at: at(10), how: 'finished' } }).status).toBe('idle')
  })

  it('a reply that was seen to be finished before that was told has finished once', () => {
    const told = [hook(10, {}), finished(22)]
    const facts = { told, busy_at: at(10), turn_end: { at: at(20), how: 'finished' as const } }
    expect(statusOf(23, { ...facts, acked_at: at(21) }).status).toBe('idle')
    expect(statusOf(23, facts)).toMatchObject({ waiting_for: 'finished', since: at(20) })
    // Long after, it is another one, or the look was wrong: better told twice than not at all.
    const late = { ...facts, told: [hook(10, {}), finished(60)], acked_at: at(21) }
    expect(statusOf(61, late)).toMatchObject({ waiting_for: 'finished', since: at(60) })
    const again = { ...facts, told: [hook(10, {}), finished(22), hook(24, {}), finished(26)], acked_at: at(23) }
    expect(statusOf(27, again)).toMatchObject({ waiting_for: 'finished', since: at(26) })
  })

  it('a program that has just started has finished nothing', () => {
    expect(statusOf(3, { seen: [pane(3, { status: 'idle' })] }).status).toBe('idle')
  })

  it('work that was seen by looking alone is noticed to have finished, also behind an unknown screen', () => {
    const previous: AgentStatus = { status: 'unknown', since: at(30), source: 'pane' }
    const was = { busy_at: at(10), turn_end: { at: at(5), how: 'finished' as const } }
    const verdict = decide(40, { seen: [pane(40, { status: 'idle' })], previous, ...was })
    expect(verdict.status).toMatchObject({ status: 'waiting', waiting_for: 'finished', since: at(40) })
  })

  it('a snooze hides it until its time or until the next reply', () => {
    const snooze = { snoozed_at: at(20), snoozed_until: at(600) }
    expect(statusOf(30, { told: [finished(10)], ...snooze })).toMatchObject({ status: 'idle' })
    expect(statusOf(601, { told: [finished(10)], ...snooze })).toMatchObject({ status: 'waiting', since: at(10) })
    const next = [finished(10), hook(40, {}), finished(45)]
    expect(statusOf(50, { told: next, ...snooze })).toMatchObject({ status: 'waiting', since: at(45) })
  })

  it('neither acknowledging nor a snooze answers a question', () => {
    const facts = { told: [asks(10)], acked_at: at(20), snoozed_at: at(20), snoozed_until: at(600) }
    expect(statusOf(30, facts)).toMatchObject({ status: 'waiting', waiting_for: 'permission' })
  })

  it('work in the background of this turn is work, until it ends or an hour has passed', () => {
    const facts = { told: [finished(10)], background: { count: 2, at: at(10) } }
    expect(statusOf(20, facts)).toMatchObject({ status: 'running', reason: '2 background tasks of this turn' })
    expect(statusOf(20, { ...facts, background: { count: 0, at: at(15) } }).waiting_for).toBe('finished')
    expect(statusOf(4_000, facts).waiting_for).toBe('finished')
  })
})

describe('how a turn ended', () => {
  const registry = (seconds: number, status: Evidence['status'] = 'idle'): Evidence => ({
    source: 'registry',
    at: at(seconds),
    status,
  })
  const done = (seconds: number) => hook(seconds, { status: 'idle', turn: 'finished' })
  const failed = (seconds: number) =>
    hook(seconds, { status: 'error', trouble: 'usage-limit', reason: 'the turn failed: rate limited' })
  const tells = { tells: true } as const

  it('failed, as its program told, although its registry says idle: until the next prompt or until it is acknowledged', () => {
    const told = [hook(10, {}), failed(12)]
    const seen = [registry(12.1)]
    const first = decide(13, { ...tells, told, seen })
    expect(first.status).toMatchObject({ status: 'error', trouble: 'usage-limit', since: at(12) })
    const kept = { ...tells, told, seen, previous: first.status, busy_at: first.busy_at, turn_end: first.turn_end }
    expect(statusOf(4_000, kept)).toEqual(first.status)
    const seenByUser = statusOf(60, { ...kept, acked_at: at(50) })
    expect(seenByUser).toMatchObject({ status: 'idle', reason: 'seen: the turn failed: rate limited' })
    expect(seenByUser.trouble).toBeUndefined()
    const next = decide(71, { ...kept, told: [...told, hook(70, {})] })
    expect(next.status).toMatchObject({ status: 'running', since: at(70) })
    const answered = { ...kept, told: [...told, hook(70, {}), done(75)], seen: [registry(75.1)] }
    expect(statusOf(76, answered)).toMatchObject({ status: 'waiting', waiting_for: 'finished', since: at(75) })
  })

  it('a failure that is followed by the word that it is idle stays a failure', () => {
    expect(statusOf(20, { ...tells, told: [hook(10, {}), failed(12), done(12.1)] })).toMatchObject({ status: 'error' })
  })

  it('at the moment a prompt is given nothing is finished, whatever the registry still says', () => {
    const told = [hook(1, { status: 'idle', turn: 'none' }), hook(10, {})]
    expect(statusOf(10.1, { ...tells, told, seen: [registry(1)] })).toMatchObject({ status: 'running', since: at(10) })
    const again = { ...tells, told: [hook(10, {}), done(12), hook(30, {})], seen: [registry(12.1)] }
    expect(statusOf(30.1, { ...again, turn_end: { at: at(12), how: 'finished' } })).toMatchObject({
      status: 'running',
      since: at(30),
    })
  })

  it('a start, a compaction and a reminder finish nothing', () => {
    const aside = (seconds: number, status: Evidence['status']) => hook(seconds, { status, turn: 'none' })
    expect(statusOf(20, { ...tells, told: [aside(1, 'idle')] })).toMatchObject({ status: 'idle' })
    const compacted = [aside(1, 'idle'), aside(10, 'running'), aside(12, 'idle')]
    expect(statusOf(20, { ...tells, told: compacted, seen: [registry(12)] })).toMatchObject({ status: 'idle' })
    const busy = decide(11, { ...tells, told: [aside(1, 'idle')], seen: [registry(10, 'running')] })
    expect(busy.status.status).toBe('running')
    const after = { ...tells, told: [aside(1, 'idle')], seen: [registry(12)], previous: busy.status }
    expect(statusOf(13, { ...after, busy_at: busy.busy_at })).toMatchObject({ status: 'idle', since: at(12) })
    const reminded = [hook(10, {}), done(12), aside(72, 'idle')]
    expect(statusOf(73, { ...tells, told: reminded, acked_at: at(20) }).status).toBe('idle')
  })

  it('without a word it is interrupted: its program is given a moment to say more, and its log is asked', () => {
    const facts = { ...tells, told: [hook(10, {})], seen: [registry(20)], previous: running(10), busy_at: at(10) }
    const first = decide(20.1, facts)
    expect(first.status).toMatchObject({ status: 'running', since: at(10) })
    expect(first.quiet_at).toBe(at(20.1))
    const later = decide(22, { ...facts, quiet_at: first.quiet_at })
    expect(later).toMatchObject({ status: { status: 'idle', reason: 'interrupted', since: at(20) }, asksLog: true })
    const finished = { at: at(19.5), how: 'finished' as const }
    const asked = decide(22, { ...facts, quiet_at: first.quiet_at, logged: finished })
    expect(asked.status).toMatchObject({ status: 'waiting', waiting_for: 'finished', since: at(19.5) })
    const late = { ...facts, told: [hook(10, {}), done(22.5)], turn_end: later.turn_end, previous: later.status }
    expect(statusOf(23, late)).toMatchObject({ waiting_for: 'finished', since: at(22.5) })
  })

  it('a program that tells every end is waited for longer when only its screen looks idle', () => {
    const idle = (seconds: number) => pane(seconds, { status: 'idle', rule: 'x/prompt@1' })
    const facts = { ...tells, isEndTold: true, told: [hook(10, {})], previous: running(10), busy_at: at(10) }
    const first = decide(13, { ...facts, seen: [idle(13)], sample: idle(12) })
    expect(first.status.status).toBe('running')
    const later = { ...facts, sample: idle(12), quiet_at: first.quiet_at }
    expect(statusOf(30, { ...later, seen: [idle(30)] }).status).toBe('running')
    expect(statusOf(50, { ...later, seen: [idle(50)] })).toMatchObject({ status: 'idle', reason: 'interrupted' })
  })

  it('a turn that an answer has ended is not waited for as long, whoever gave the answer', () => {
    const idle = (seconds: number) => pane(seconds, { status: 'idle', rule: 'x/prompt@1' })
    const asked = [hook(10, {}), asks(12)]
    const facts = { ...tells, isEndTold: true, previous: running(10), busy_at: at(10) }
    for (const told of [asked, toldAnswered(asked, at(13))]) {
      const first = decide(16, { ...facts, previous: waiting(12), told, seen: [idle(16)], sample: idle(15) })
      expect(first.status).toMatchObject({ status: 'running', reason: 'its question was answered' })
      const later = { ...facts, told, seen: [idle(18)], sample: idle(15), quiet_at: first.quiet_at }
      expect(statusOf(18, later)).toMatchObject({ status: 'idle', reason: 'interrupted' })
    }
  })

  it('a question that was just answered is no longer asked, and the same turn goes on', () => {
    const asked = [hook(10, {}), asks(12)]
    const facts = { ...tells, previous: waiting(12), busy_at: at(10), seen: [] }
    expect(statusOf(13, { ...facts, told: asked })).toMatchObject({ status: 'waiting', waiting_for: 'permission' })
    const answered = decide(13, { ...facts, told: toldAnswered(asked, at(13)) })
    expect(answered.status).toMatchObject({ status: 'running', reason: 'its question was answered' })
    expect(answered.busy_at).toBe(at(10))
    expect(toldAnswered([hook(10, {})], at(13))).toEqual([hook(10, {})])
  })

  it('an interrupted turn is no beginning of the next one', () => {
    const end = { at: at(20), how: 'interrupted' as const }
    const facts = { ...tells, told: [hook(10, {}), hook(40, {})], turn_end: end, busy_at: at(10) }
    expect(statusOf(41, { ...facts, seen: [registry(20)] })).toMatchObject({ status: 'running', since: at(40) })
  })

  it('a failure on the screen counts for a turn that was going on, and not for one long over', () => {
    const shown = pane(14, { status: 'error', trouble: 'auth', reason: 'not logged in', rule: 'x/auth@1' })
    const quiet = hook(12, { status: 'idle', turn: 'none' })
    const open = decide(14, { ...tells, told: [hook(10, {}), quiet], seen: [shown], busy_at: at(10) })
    expect(open.status).toMatchObject({ status: 'error', trouble: 'auth' })
    const resumed = { started_at: at(0), isResumed: true }
    expect(statusOf(14, { ...tells, run: resumed, told: [], seen: [shown] }).status).toBe('idle')
    const acked = { ...tells, told: [hook(10, {}), quiet], seen: [shown], turn_end: open.turn_end, acked_at: at(20) }
    expect(statusOf(30, acked).status).toBe('idle')
  })

  it('an acknowledged end of a program is no error any more', () => {
    const previous: AgentStatus = {
      status: 'error',
      trouble: 'dead-pane',
      reason: 'exited 1',
      since: at(5),
      source: 'process',
    }
    const sighting = { agent: AGENT, now: at(60), previous, told: [], seen: [] }
    expect(decideStatus({ ...sighting, acked_at: at(10) }).status).toMatchObject({
      status: 'stopped',
      reason: 'exited 1',
    })
    expect(decideStatus({ ...sighting, acked_at: at(2) }).status.status).toBe('error')
  })
})

describe('one wait, one token', () => {
  it('a reminder does not make a new wait; an answer and another question does', () => {
    const first = statusOf(11, { told: [asks(10)] })
    expect(first.token).toBe(waitToken(AGENT, at(10), 'permission'))
    const reminded = statusOf(18, { told: [asks(10), asks(17)], previous: first })
    expect(reminded.token).toBe(first.token)
    const next = statusOf(31, { told: [asks(10), asks(17), hook(20, {}), asks(30)], previous: reminded })
    expect(next.since).toBe(at(30))
    expect(next.token).not.toBe(first.token)
  })

  it('a registry that is read again is the same wait until it is dated anew', () => {
    const registry = (seconds: number): Evidence => ({
      source: 'registry',
      at: at(seconds),
      status: 'waiting',
      waiting_for: 'permission',
    })
    const first = statusOf(11, { seen: [registry(10)] })
    expect(statusOf(15, { seen: [registry(10)], previous: first }).token).toBe(first.token)
    expect(statusOf(25, { seen: [registry(24)], previous: first }).token).not.toBe(first.token)
  })

  it('a hook and a registry that date the same wait differently do not change its token', () => {
    const first = statusOf(11, { told: [asks(10)] })
    const registry: Evidence = { source: 'registry', at: at(10.2), status: 'waiting', waiting_for: 'permission' }
    expect(statusOf(12, { told: [asks(10)], seen: [registry], previous: first }).token).toBe(first.token)
  })
})

it('a turn that writes nothing for ten minutes is said to be stalled, and still counts from its beginning', () => {
  const facts = { told: [hook(10, {})], previous: running(10), progress_at: at(60) }
  expect(statusOf(600, facts)).toEqual({ status: 'running', since: at(10), source: 'hook' })
  const stalled = statusOf(700, facts)
  expect(stalled).toMatchObject({ status: 'running', trouble: 'stalled', reason: 'no progress for 10m', since: at(10) })
  expect(statusOf(701, { ...facts, previous: stalled, progress_at: at(700) })).toMatchObject({ since: at(10) })
})

// --- always and never -------------------------------------------------------------------------------------------------

const anyEvidence: fc.Arbitrary<Evidence> = fc
  .record({
    source: fc.constantFrom('hook' as const, 'event-stream' as const, 'report' as const),
    seconds: fc.integer({ min: 0, max: 40 }),
    status: fc.constantFrom(...STATUSES),
    wait: fc.option(fc.constantFrom(...WAITS), { nil: undefined }),
  })
  .map(({ source, seconds, status, wait }) => ({
    source,
    at: at(seconds),
    status,
    ...(status === 'waiting' && wait ? { waiting_for: wait } : {}),
  }))

it('the order in which messages arrive, and whether they come twice, does not matter', () => {
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 14 }), fc.infiniteStream(fc.nat()), (messages, dice) => {
      const shuffled = messages
        .map((message) => ({ message, key: dice.next().value ?? 0 }))
        .sort((a, b) => a.key - b.key)
        .map(({ message }) => message)
      const inOrder = messages.reduce<Evidence[]>((told, message) => mergeTold(told, [message]), [])
      const batches = [...shuffled, ...shuffled.slice(0, 3)].reduce<Evidence[]>(
        (told, one) => mergeTold([one], told),
        [],
      )
      expect(batches).toEqual(inOrder)
      expect(statusOf(50, { told: batches })).toEqual(statusOf(50, { told: inOrder }))
    }),
  )
})

it('looking again at the same thing never changes a status', () => {
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 10 }), fc.integer({ min: 41, max: 300 }), (messages, later) => {
      const facts = { told: mergeTold([], messages) }
      const first = decide(41, facts)
      const kept = { ...facts, previous: first.status, busy_at: first.busy_at, turn_end: first.turn_end }
      expect(decide(later, kept).status).toEqual(first.status)
    }),
  )
})

it('a waiting agent always has a token and a kind, and nothing else ever has one', () => {
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 10 }), (messages) => {
      const { status, waiting_for, token } = statusOf(50, { told: mergeTold([], messages) })
      expect([waiting_for !== undefined, token !== undefined]).toEqual([status === 'waiting', status === 'waiting'])
    }),
  )
})

it('a question is never hidden: what the newest source says is asked is shown as waiting', () => {
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 10 }), (messages) => {
      const told = mergeTold([], [...messages, asks(45)])
      expect(activityOf(statusOf(46, { told, acked_at: at(45.5), snoozed_at: at(45.5), snoozed_until: at(900) }))).toBe(
        'blocked',
      )
    }),
  )
})
