import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_POLICY,
  type Event,
  type EventId,
  formatDuration,
  instantOf,
  isEventId,
  matchesPattern,
  msOf,
  nextEventId,
  parseDuration,
  parseInstant,
  parseWhen,
  Roster,
  retentionOf,
  worth,
} from '../../src/model/index.js'
import { anyHistory } from './history.js'

const DAY = 86_400_000

describe('event ids', () => {
  it('rise strictly, whatever the clock does', () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 42 }), { maxLength: 200 }),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (clock, random) => {
          let last: EventId | undefined
          for (const ms of clock) {
            const next = nextEventId(last, ms, random)
            expect(isEventId(next)).toBe(true)
            if (last) expect(next > last).toBe(true)
            last = next
          }
        },
      ),
    ))

  it('rise from the highest there are, and beyond the year 9999 there are none', () => {
    const last = 'e677d21f-dbff-7ffe-bfff-ffffffffff00' as EventId
    let id = last
    for (let n = 0; n < 300; n += 1) {
      const next = nextEventId(id, 1_000, new Uint8Array(10))
      expect(isEventId(next) && next > id).toBe(true)
      id = next
    }
    const highest = 'e677d21f-dbff-7fff-bfff-ffffffffffff' as EventId
    expect(isEventId(highest)).toBe(true)
    expect(() => nextEventId(highest, 1_000, new Uint8Array(10))).toThrow('the highest possible id')
    expect(isEventId('e677d21f-dc00-7000-8000-000000000000')).toBe(false)
  })

  it('count on into the next millisecond when one is used up', () => {
    let last = nextEventId(undefined, 1_000, new Uint8Array(10).fill(255))
    for (let n = 0; n < 10_000; n += 1) {
      const next = nextEventId(last, 1_000, new Uint8Array(10).fill(255))
      expect(next > last).toBe(true)
      last = next
    }
  })
})

describe('times people type', () => {
  const now = Date.UTC(2026, 0, 17, 12)
  it('may be a span, a day, or a moment', () => {
    expect(parseWhen('1h', now)).toBe('2026-01-17T11:00:00.000Z')
    expect(parseWhen('7d', now)).toBe('2026-01-10T12:00:00.000Z')
    expect(parseWhen('1d12h', now)).toBe('2026-01-16T00:00:00.000Z')
    const midnight = (daysBack: number): string => new Date(2026, 0, new Date(now).getDate() - daysBack).toISOString()
    expect(parseWhen('today', now)).toBe(midnight(0))
    expect(parseWhen('yesterday', now)).toBe(midnight(1))
    expect(parseWhen('2026-01-17', now)).toBe(instantOf(new Date(2026, 0, 17).getTime()))
    expect(parseWhen('2026-01-17T08:30', now)).toBe(instantOf(new Date(2026, 0, 17, 8, 30).getTime()))
    expect(parseWhen('2026-01-17T08:30:00Z', now)).toBe('2026-01-17T08:30:00.000Z')
    expect(parseWhen('2026-01-17T08:30:00+02:00', now)).toBe('2026-01-17T06:30:00.000Z')
  })
  for (const text of [
    '',
    'tomorrow',
    '1',
    '-1h',
    '1x',
    '2026-02-30',
    '2026-13-01',
    '2026-01-17T25:00',
    '99999999999999d',
    '2026-1-7',
    '1h ',
  ]) {
    it(`may not be ${JSON.stringify(text)}`, () => expect(() => parseWhen(text, now)).toThrow('is not a time'))
  }
  it('are read from their digits as the calendar would', () =>
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
        expect(msOf(instantOf(ms))).toBe(ms)
      }),
    ))
  it('parse back from what is shown', () => {
    for (const ms of [0, 1_000, 61_000, 3_600_000, 90_000_000, 7 * DAY])
      expect(parseDuration(formatDuration(ms))).toBe(Math.floor(ms / 60_000) * 60_000 || ms)
    expect(parseInstant('2026-01-17T08:30:00.123456Z')).toBe('2026-01-17T08:30:00.123Z')
    expect(parseInstant('2026-01-17')).toBeUndefined()
  })
})

describe('the worth of an event', () => {
  const curves = ['rapid', 'steady', 'slow', 'flat'] as const
  it('follows its curve', () => {
    const at = (x: number): number[] => curves.map((curve) => worth(x * DAY, { ttlMs: DAY, curve }))
    expect(at(0)).toEqual([1, 1, 1, 1])
    expect(at(0.5)).toEqual([0.25, 0.5, 2 ** (-0.5 / 0.75), 1])
    expect(at(0.75)).toEqual([0.125, 0.25, 0.5, 1])
    expect(worth(0.95 * DAY, { ttlMs: DAY, curve: 'flat' })).toBeCloseTo(0.5)
    expect(at(1)).toEqual([0, 0, 0, 0])
    expect(at(-1)).toEqual([1, 1, 1, 1])
    expect(worth(1e15, { ttlMs: 0, curve: 'rapid' })).toBe(1)
  })
  it('never rises with age', () =>
    fc.assert(
      fc.property(fc.constantFrom(...curves), fc.nat(2 * DAY), fc.nat(2 * DAY), (curve, a, b) => {
        const [young, old] = [Math.min(a, b), Math.max(a, b)]
        expect(worth(old, { ttlMs: DAY, curve })).toBeLessThanOrEqual(worth(young, { ttlMs: DAY, curve }))
      }),
    ))
  it('is set by the exact type, else the longest pattern, else the default', () => {
    const policy = { ...DEFAULT_POLICY, ttls: { 'a*': 1, 'ab*': 2, abc: 3, '*z': 4, 'a*z': 5 } }
    expect(['abc', 'abd', 'ax', 'b', 'bz', 'abz', 'az'].map((type) => retentionOf(type, policy).ttlMs)).toEqual([
      3,
      2,
      1,
      7 * DAY,
      4,
      2,
      5,
    ])
    expect(retentionOf('patrol_started', DEFAULT_POLICY)).toEqual({ ttlMs: DAY, curve: 'rapid' })
    expect(retentionOf('mass_death', DEFAULT_POLICY)).toEqual({ ttlMs: 90 * DAY, curve: 'flat' })
    expect(retentionOf('merge_failed', DEFAULT_POLICY)).toEqual({ ttlMs: 30 * DAY, curve: 'flat' })
    expect(retentionOf('hook', DEFAULT_POLICY)).toEqual({ ttlMs: 14 * DAY, curve: 'slow' })
    expect(retentionOf('session_end', DEFAULT_POLICY)).toEqual({ ttlMs: 3 * DAY, curve: 'steady' })
    expect(retentionOf('something_new', DEFAULT_POLICY)).toEqual({ ttlMs: 7 * DAY, curve: 'steady' })
  })
  it('patterns match as a shell would, and nothing else', () => {
    const cases: [string, string, boolean][] = [
      ['abc', 'a*c', true],
      ['ac', 'a*c', true],
      ['a', 'a*a', false],
      ['aa', 'a*a', true],
      ['abcabc', 'a*b*c', true],
      ['abc', '*', true],
      ['a.c', 'a?c', false],
      ['', '*', true],
    ]
    for (const [type, pattern, expected] of cases)
      expect([type, pattern, matchesPattern(type, pattern)]).toEqual([type, pattern, expected])
  })
})

describe('the roster', () => {
  const rowsOf = (roster: Roster): unknown => [[...roster.agents.values()], [...roster.groups.values()]]
  it('after any history has unique addresses, existing groups, no rings of parents, and can be taken up from any point', () =>
    fc.assert(
      fc.property(anyHistory(60), fc.nat(60), (events: Event[], cut) => {
        const roster = new Roster()
        let resumed: Roster | undefined
        events.forEach((event, at) => {
          roster.apply(event)
          resumed?.apply(event)
          // A checkpoint taken here and read back must lead to the same end.
          if (at === cut)
            resumed = new Roster(
              structuredClone([...roster.agents.values()]),
              structuredClone([...roster.groups.values()]),
            )
        })
        const agents = [...roster.agents.values()]
        expect(new Set(agents.map((agent) => agent.address)).size).toBe(agents.length)
        for (const agent of agents) {
          expect(roster.at(agent.address)?.id).toBe(agent.id)
          expect(agent.group_path === undefined || roster.groups.has(agent.group_path)).toBe(true)
          if (agent.parent_id) expect(roster.wouldCycle(agent.id, agent.parent_id)).toBe(false)
        }
        if (resumed) expect(rowsOf(resumed)).toEqual(rowsOf(roster))
      }),
      { numRuns: 300 },
    ))
})
