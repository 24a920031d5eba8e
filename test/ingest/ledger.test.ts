import fc from 'fast-check'
import { expect, it } from 'vitest'
import { COST_GROUPS, Ledger, LedgerStore, PriceBook, reportCalls, usageRecordOf } from '../../src/ingest/index.js'
import { parseInstant, parseSessionId, type UsageCall } from '../../src/model/index.js'
import type { UsageRecord } from '../../src/tools/index.js'

const DAY = 86_400_000
const prices = new PriceBook()

const telling = (facts: Partial<UsageRecord>): UsageRecord => ({
  tool: 'claude',
  call: 'm1',
  session: 'a',
  model: 'claude-opus-4-5',
  at_ms: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  web_search_requests: 0,
  service_tier: undefined,
  speed: undefined,
  logged_nano_usd: undefined,
  ...facts,
})

const anyTelling = fc.record({
  tool: fc.constantFrom('claude', 'codex'),
  call: fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5', 'm6'),
  session: fc.constantFrom('a', 'b', 'c'),
  model: fc.constantFrom('claude-opus-4-5', 'claude-haiku-4-5', 'acme'),
  at_ms: fc.nat(40 * DAY),
  input_tokens: fc.nat(3),
  output_tokens: fc.nat(3),
  cache_read_tokens: fc.nat(1),
  cache_write_5m_tokens: fc.nat(1),
  cache_write_1h_tokens: fc.nat(1),
  web_search_requests: fc.nat(1),
  service_tier: fc.constantFrom(undefined, 'standard', 'batch'),
  speed: fc.constantFrom(undefined, 'fast'),
  logged_nano_usd: fc.constantFrom(undefined, 1, 5_000),
  copied: fc.constantFrom(undefined, undefined, {}, { from: 'a' }, { from: 'x' }, { into_ms: 5 }, { into_ms: 9 }),
  made: fc.constantFrom(undefined, undefined, true as const),
})

function callsOf(tellings: readonly UsageRecord[]): UsageRecord[] {
  const ledger = new Ledger()
  for (const told of tellings) ledger.tell(told)
  return ledger.calls().sort((x, y) => (`${x.tool} ${x.call}` < `${y.tool} ${y.call}` ? -1 : 1))
}

it('any order and any repetition of tellings gives the same calls', () => {
  fc.assert(
    fc.property(
      fc
        .array(anyTelling, { minLength: 1, maxLength: 20 })
        .chain((tellings) =>
          fc.tuple(
            fc.constant(tellings),
            fc.shuffledSubarray(tellings, { minLength: tellings.length }),
            fc.array(fc.constantFrom(...tellings), { maxLength: 20 }),
          ),
        ),
      ([tellings, shuffled, again]) => {
        const expected = callsOf(tellings)
        expect(callsOf([...shuffled, ...again])).toEqual(expected)
        expect(callsOf([...again, ...shuffled])).toEqual(expected)
      },
    ),
    { numRuns: 2_000 },
  )
})

it('the rows of every grouping add up to the same total', () => {
  const placeOf = (session: string) => (session === 'a' ? undefined : { agent: session, chain: 'k', work: session })
  fc.assert(
    fc.property(fc.array(anyTelling, { maxLength: 20 }), fc.constantFrom('UTC', 'Asia/Tokyo'), (tellings, zone) => {
      const reports = COST_GROUPS.map((by) => reportCalls(callsOf(tellings), prices, { by, zone, placeOf }))
      for (const { rows, total } of reports) {
        expect(total).toEqual(reports[0]?.total)
        for (const column of ['calls', 'output_tokens', 'unpriced_calls', 'unpriced_tokens'] as const) {
          expect(rows.reduce((sum, row) => sum + row[column], 0)).toBe(total[column])
        }
      }
    }),
  )
})

it('a call that a fork copied belongs to the session it was copied from', () => {
  const original = [telling({ call: 'm1', session: 'z', at_ms: 1 }), telling({ call: 'm2', session: 'z', at_ms: 2 })]
  const fork = [telling({ call: 'm1', session: 'a', at_ms: 1 }), telling({ call: 'm3', session: 'a', at_ms: 9 })]
  const owners = (tellings: UsageRecord[]) => callsOf(tellings).map((call) => `${call.call} ${call.session}`)
  expect(owners([...fork, ...original])).toEqual(['m1 z', 'm2 z', 'm3 a'])
  // The original ended where it was forked: it has no call of its own, and still is the owner.
  expect(owners([...fork, ...original.slice(0, 1)])).toEqual(['m1 z', 'm3 a'])
})

it('a call belongs to the session whose log shows that it made it, also when that went on after its copy', () => {
  const original = [telling({ session: 'z', at_ms: 1, made: true }), telling({ call: 'm3', session: 'z', at_ms: 9 })]
  const fork = [telling({ session: 'a', at_ms: 1 }), telling({ call: 'm2', session: 'a', at_ms: 5, made: true })]
  for (const tellings of [
    [...original, ...fork],
    [...fork, ...original],
  ])
    expect(callsOf(tellings).map((call) => `${call.call} ${call.session}`)).toEqual(['m1 z', 'm2 a', 'm3 z'])
})

it('a call that a log says it copied belongs to another session, whichever of them went on', () => {
  const owners = (...tellings: UsageRecord[]) => callsOf(tellings).map((call) => `${call.call} ${call.session}`)
  const own = telling({ session: 'z', at_ms: 1 })
  const further = telling({ call: 'm2', session: 'z', at_ms: 2 })
  const waiting = telling({ session: 'a', at_ms: 1, copied: {} })
  expect(owners(own, waiting)).toEqual(['m1 z'])
  expect(owners(waiting, own, further)).toEqual(['m1 z', 'm2 z'])
  // A fork of a fork names the fork, which says itself that it was not the one.
  const grandchild = telling({ session: 'b', at_ms: 1, copied: { from: 'a' } })
  expect(owners(grandchild, waiting, own, further)).toEqual(['m1 z', 'm2 z'])
  // The log of the original is gone: the one that is named has paid, else the oldest of the copies has to stand for it.
  expect(owners(telling({ session: 'a', copied: { from: 'z' } }), grandchild)).toEqual(['m1 z'])
  const later = telling({ session: 'a', copied: { into_ms: 9 } })
  expect(owners(later, telling({ session: 'b', copied: { into_ms: 5 } }))).toEqual(['m1 b'])
})

it('any order of tellings, in transactions of any size, gives on disk what it gives in memory', () => {
  fc.assert(
    fc.property(
      fc.array(anyTelling, { minLength: 1, maxLength: 24 }),
      fc.integer({ min: 1, max: 24 }),
      (all, piece) => {
        using store = LedgerStore.open(':memory:')
        for (let at = 0; at < all.length; at += piece) {
          const tellings = all.slice(at, at + piece)
          const log = {
            path: `/${at}`,
            tool: 'claude',
            stamp: '',
            carry: undefined,
            damaged_lines: 0,
            oversized_lines: 0,
          }
          store.record([{ ...log, tellings }])
        }
        const order = (x: { tool: string; call: string }, y: { tool: string; call: string }) =>
          `${x.tool} ${x.call}` < `${y.tool} ${y.call}` ? -1 : 1
        expect([...store.calls()].sort(order)).toEqual(callsOf(all))
      },
    ),
    { numRuns: 500 },
  )
})

it('days, weeks and months are those of the time zone, across changes of the clock', () => {
  const at = (time: string) => telling({ call: time, at_ms: Date.parse(time) })
  const keys = (by: 'day' | 'week' | 'month', zone: string, ...times: string[]) =>
    reportCalls(times.map(at), prices, { by, zone }).rows.map((row) => `${row.key} ${row.calls}`)
  expect(keys('day', 'UTC', '2026-03-29T00:30:00Z')).toEqual(['2026-03-29 1'])
  expect(
    keys(
      'day',
      'Europe/Berlin',
      '2026-03-28T22:59:59Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
      '2026-03-29T22:00:00Z',
    ),
  ).toEqual(['2026-03-28 1', '2026-03-29 2', '2026-03-30 1'])
  expect(keys('day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z')).toEqual([
    '2026-10-25 2',
    '2026-10-26 1',
  ])
  expect(keys('day', 'Asia/Kathmandu', '2026-01-01T18:14:59Z', '2026-01-01T18:15:00Z')).toEqual([
    '2026-01-01 1',
    '2026-01-02 1',
  ])
  expect(keys('month', 'America/New_York', '2026-02-01T04:59:00Z', '2026-02-01T05:00:00Z')).toEqual([
    '2026-01 1',
    '2026-02 1',
  ])
  expect(
    keys('week', 'UTC', '2025-12-28T12:00:00Z', '2025-12-29T00:00:00Z', '2026-01-04T23:59:00Z', '2026-01-05T00:00:00Z'),
  ).toEqual(['2025-W52 1', '2026-W01 2', '2026-W02 1'])
})

it('agrees with the calendar of the system for any moment and zone', () => {
  const zones = ['America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Europe/London', 'Africa/Casablanca']
  fc.assert(
    fc.property(
      fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2027-01-01') }),
      fc.constantFrom(...zones),
      (at_ms, zone) => {
        const [row] = reportCalls([telling({ at_ms })], prices, { by: 'day', zone }).rows
        expect(row?.key).toBe(new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at_ms))
      },
    ),
    { numRuns: 300 },
  )
})

it('a usage of any tool becomes a telling, with its own price kept apart', () => {
  const usage: UsageCall = {
    message_id: 'resp_1',
    session: parseSessionId('s1'),
    model: 'gpt-5.5',
    ts: parseInstant('2026-01-17T01:00:00Z') ?? expect.unreachable(),
    input_tokens: 10,
    output_tokens: 2,
    cache_read_tokens: 0,
    cache_write_5m_tokens: 0,
    cache_write_1h_tokens: 0,
    web_search_requests: 0,
    cost_usd: 0.25,
  }
  const { total } = reportCalls([usageRecordOf('codex', { usage })], prices, { by: 'tool', zone: 'UTC' })
  expect(total).toMatchObject({ calls: 1, micro_usd: 110, logged_micro_usd: 250_000 })
})
