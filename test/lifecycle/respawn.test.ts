import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentRun, RunEnd } from '../../src/lifecycle/agent-run.js'
import { decideRespawn, type RespawnRule, waitLeft } from '../../src/lifecycle/care/respawn.js'
import { parseWatchdogSettings } from '../../src/lifecycle/index.js'
import { type AgentId, instantOf, msOf, plainRole, Roles } from '../../src/model/index.js'

const RULE: RespawnRule = { respawn: 'on-crash', backoffMs: 30_000, mostMs: 600_000, limit: 6 }
const T0 = Date.parse('2026-01-17T01:00:00Z')

/** An agent whose run has ended after `livedMs`. */
function ended(
  end: RunEnd,
  {
    before,
    id = 'run',
    livedMs = 1_000,
    ...more
  }: Partial<AgentRun> & { before?: AgentRun['respawn']; id?: string; livedMs?: number } = {},
): AgentRun {
  const run = {
    id,
    socket: { path: '/s' },
    tmux_session: 's',
    pane: '%1',
    pid: 9,
    port: 0,
    how: 'new',
    started_at: instantOf(T0),
    ended_at: instantOf(T0 + livedMs),
    end,
  } as AgentRun['run']
  const status = { status: 'error' as const, since: instantOf(T0), source: 'process' as const }
  return {
    v: 1,
    agent: 'a' as AgentId,
    recipe: { tool: 'fake', cwd: '/' },
    status,
    ...(run ? { run } : {}),
    ...(before ? { respawn: before } : {}),
    ...more,
  }
}
const CRASH: RunEnd = { how: 'crashed', reason: 'exited 3' }
const NOW = instantOf(T0 + 1_000)

describe('when an agent is started again', () => {
  it('waits 30 s, doubling to 10 min, and is parked at the limit with a way out', () => {
    const delays: (number | undefined)[] = []
    let before: AgentRun['respawn']
    for (let n = 0; ; n += 1) {
      before = decideRespawn(ended(CRASH, { before, id: `run-${n}` }), 'web/toast', RULE, NOW)
      if (before?.parked) break
      delays.push(before?.delay_ms)
    }
    expect(delays).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000])
    expect(before?.parked).toEqual({
      kind: 'loop',
      reason: 'it ended 7 times, last: exited 3',
      next: 'When its cause is mended: skein recover web/toast',
    })
  })

  it('a calm time, or another unit of work, begins to count anew', () => {
    const before = { run: 'old', count: 5, at: NOW, work: 'wk-1' }
    const work = { tool: 'fake', cwd: '/', work: 'wk-1' }
    expect(decideRespawn(ended(CRASH, { before, recipe: work }), 'a', RULE, NOW)?.count).toBe(6)
    expect(decideRespawn(ended(CRASH, { before, recipe: { ...work, work: 'wk-2' } }), 'a', RULE, NOW)?.count).toBe(1)
    expect(decideRespawn(ended(CRASH, { before, recipe: work, livedMs: 600_001 }), 'a', RULE, NOW)?.count).toBe(1)
  })

  it('an end that was asked for is never answered, whatever the rule; an exit only by "always"', () => {
    for (const respawn of ['never', 'on-crash', 'always'] as const) {
      for (const how of ['stopped', 'killed'] as const)
        expect(decideRespawn(ended({ how, reason: 'x' }), 'a', { ...RULE, respawn }, NOW)).toBeUndefined()
      const left = decideRespawn(ended({ how: 'exited', reason: 'exited 0' }), 'a', { ...RULE, respawn }, NOW)
      expect(left !== undefined).toBe(respawn === 'always')
    }
    expect(decideRespawn(ended(CRASH), 'a', { ...RULE, respawn: 'never' }, NOW)).toBeUndefined()
  })

  it('one end is decided about once', () => {
    const before = { run: 'run', count: 1, at: NOW, delay_ms: 30_000 }
    expect(decideRespawn(ended(CRASH, { before }), 'a', RULE, NOW)).toBeUndefined()
  })

  it.each([
    ['auth', 'it could not log in: 401'],
    ['usage-limit', 'it has reached its usage limit: resets 3pm'],
  ] as const)('%s holds instead of looping, in the words of the tool', (trouble, reason) => {
    const turn_end = { at: NOW, how: 'failed' as const, trouble, reason: trouble === 'auth' ? '401' : 'resets 3pm' }
    expect(decideRespawn(ended(CRASH, { turn_end }), 'a', RULE, NOW)?.parked).toMatchObject({ kind: 'held', reason })
  })

  describe('a usage limit that says when it ends', () => {
    const said = 'the turn failed: usage limit reached (resets 3:30am (UTC))'
    const turn_end = { at: NOW, how: 'failed' as const, trouble: 'usage-limit' as const, reason: said }
    const until = '2026-01-17T03:30:00.000Z'
    const decided = decideRespawn(ended(CRASH, { turn_end }), 'a', RULE, NOW)

    it('holds the agent until then, and it is started again after it', () => {
      expect(decided?.parked).toEqual({
        kind: 'held',
        reason: `it has reached its usage limit: ${said}`,
        next: 'When it can work again: skein recover a',
        until,
      })
      expect(decided && waitLeft(decided, msOf(NOW))).toBe(Date.parse(until) - msOf(NOW) + RULE.backoffMs)
      expect(decided && waitLeft(decided, Date.parse(until) + RULE.backoffMs)).toBe(0)
      // A clock that was set back by a day makes it no longer.
      expect(decided && waitLeft(decided, msOf(NOW) - 86_400_000)).toBe(Date.parse(until) - msOf(NOW) + RULE.backoffMs)
    })

    it('holds the agent until then also when its screen, read later, shows only a part of the sentence', () => {
      const sample = {
        at: instantOf(msOf(NOW) + 1_000),
        source: 'pane' as const,
        status: 'error' as const,
        trouble: 'usage-limit' as const,
        reason: 'limit',
      }
      const { parked } = decideRespawn({ ...ended(CRASH, { turn_end }), sample }, 'a', RULE, NOW) ?? {}
      expect(parked).toMatchObject({ kind: 'held', reason: 'it has reached its usage limit: limit', until })
    })

    it('holds nobody any more when it has ended, nor when another turn has begun since', () => {
      const late = instantOf(Date.parse(until) + 1)
      const decided = decideRespawn(ended(CRASH, { turn_end }), 'a', RULE, late)
      expect(decided).toMatchObject({ count: 1, delay_ms: 30_000 })
      expect(decided).not.toHaveProperty('parked')
      const told = [{ source: 'hook' as const, status: 'running' as const, at: instantOf(T0 + 1_001) }]
      expect(decideRespawn(ended(CRASH, { turn_end, told }), 'a', RULE, NOW)?.parked).toBeUndefined()
    })

    it('is not believed for ever: at the limit of respawns the agent is left down', () => {
      const before = { run: 'old', count: RULE.limit, at: NOW }
      const last = decideRespawn(ended(CRASH, { turn_end, before }), 'a', RULE, NOW)
      expect(last?.parked).toMatchObject({ kind: 'held' })
      expect(last && waitLeft(last, msOf(NOW))).toBeUndefined()
    })

    it('counts also as the last words of a program that left, and as what its screen shows in the middle of a turn', () => {
      const left = {
        how: 'crashed',
        exit_status: 1,
        trouble: 'usage-limit',
        reason: 'exited 1: resets 3:30am (UTC)',
      } as const
      expect(decideRespawn(ended(left), 'a', RULE, NOW)?.parked).toMatchObject({ kind: 'held', until })
      const sample = { source: 'pane', status: 'waiting', trouble: 'usage-limit', reason: said, at: NOW } as const
      expect(decideRespawn(ended(CRASH, { sample }), 'a', RULE, NOW)?.parked).toMatchObject({ kind: 'held', until })
    })
  })

  it('never waits longer than the delay, wherever the clock is set', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), fc.integer({ min: -1e10, max: 1e10 }), (delay_ms, offMs) => {
        const left = waitLeft({ run: 'r', count: 1, at: NOW, delay_ms }, T0 + offMs)
        return left !== undefined && left >= 0 && left <= delay_ms
      }),
      { seed: 17 },
    )
  })
})

describe('whose rule counts', () => {
  const roles = new Roles({ roles: [{ ...plainRole('witness'), respawn: 'always' }] })
  const settings = { watchdog: { respawn: 'on-crash', agents: { web: 'never', 'web/toast': 'always' } } }
  const rule = (address: string, role?: string) =>
    parseWatchdogSettings(settings, 'config.toml', roles).ruleOf({
      address: address as never,
      ...(role ? { role } : {}),
    }).respawn

  it("the nearest path, then the agent's role, then the setting for all", () => {
    expect(rule('lab/a')).toBe('on-crash')
    expect(rule('lab/a', 'witness')).toBe('always')
    expect(rule('web/jam', 'witness')).toBe('never')
    expect(rule('web/toast')).toBe('always')
    expect(parseWatchdogSettings({}, 'config.toml', roles).ruleOf({ address: 'a' as never }).respawn).toBe('never')
  })

  it('a mistake is named', () => {
    const parse = (watchdog: object) => () => parseWatchdogSettings({ watchdog }, 'config.toml', roles)
    expect(parse({ respawn: 'often' })).toThrow('watchdog.respawn in config.toml is "often"')
    expect(parse({ limit: 0 })).toThrow('watchdog.limit in config.toml is 0')
    expect(parse({ backoff: 'soon' })).toThrow('watchdog.backoff in config.toml is "soon"')
  })
})
