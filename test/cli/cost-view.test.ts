import { describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/screen/display-width.js'
import { rounded } from '../../src/cli/screen/money.js'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'
import { costView } from '../../src/cli/views/cost-view.js'
import { runningAgentsView } from '../../src/cli/views/running-agents-view.js'
import type { CostGroup, CostRow } from '../../src/ingest/index.js'
import type { AgentView } from '../../src/lifecycle/index.js'

const row = (key: string | undefined, dollars: number, more: Partial<CostRow> = {}): CostRow => ({
  key,
  calls: 1_234_567,
  input_tokens: 23_456_789,
  output_tokens: 34_567_890,
  cache_read_tokens: 4_567_890_123,
  cache_write_5m_tokens: 300_000_000,
  cache_write_1h_tokens: 21_098_765,
  web_search_requests: 0,
  micro_usd: dollars * 1_000_000,
  web_search_micro_usd: 0,
  unpriced_calls: 0,
  unpriced_tokens: 0,
  unpriced_models: [],
  logged_micro_usd: 0,
  ...more,
})

function draw(rows: CostRow[], width: number, by: CostGroup = 'session'): string[] {
  const { key: _, ...total } = row(undefined, 12_345.67, { unpriced_calls: 1, unpriced_models: ['x'] })
  return costView({ by, zone: 'UTC', rows, total, unread_counts: 0 }, { width, paint: PLAIN_PAINT, nowMs: 0 }).split(
    '\n',
  )
}

describe('what was spent, on a screen', () => {
  const id = '01a1deb6-c63a-7511-8e92-121dcd9e9658'

  it.each([200, 100, 80, 60, 40, 30])('shows the cost in %i columns, whatever else has to give', (width) => {
    const lines = draw([row(id, 12_345.67)], width)
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
    expect(lines[0]).toMatch(/^SESSION .*COST$/)
    expect(lines[1]).toMatch(/^01a1deb.* \$12,345\.67$/)
    expect(lines[2]).toMatch(/^total .*\$12,345\.67 \+ unknown$/)
    expect(lines[1]?.includes('4,567,890,123')).toBe(width >= 100)
    expect(lines[1]?.includes('4.5B')).toBe(width > 60 && width < 100)
  })

  it('has what costs most first, what nobody is charged with last, and days in their order', () => {
    const keys = (by: CostGroup, ...rows: CostRow[]): (string | undefined)[] =>
      draw(rows, 200, by).map((line) => line.split(' ')[0])
    expect(keys('model', row('a', 1), row('b', 3), row('c', 0, { unpriced_tokens: 9 }), row('d', 2))).toEqual([
      'MODEL',
      'b',
      'd',
      'a',
      'c',
      'total',
    ])
    expect(keys('work', row(undefined, 9), row('w', 1))).toEqual(['WORK', 'w', '(none)', 'total'])
    expect(keys('day', row('2026-01-01', 1), row('2026-01-02', 3))).toEqual([
      'DAY',
      '2026-01-01',
      '2026-01-02',
      'total',
    ])
  })

  it('rounds down, so that nothing is shown that was not there', () => {
    expect([0, 999, 1_000, 1_999, 999_999, 1_234_567, 123_456_789, 4_567_890_123].map(rounded)).toEqual([
      '0',
      '999',
      '1k',
      '1.9k',
      '999k',
      '1.2M',
      '123M',
      '4.5B',
    ])
  })
})

describe('what an agent has cost, in the list of agents,', () => {
  const AGENT = {
    ...{ id: 'a1', address: 'web/api', name: 'api', tool: 'claude', status: 'idle', source: 'process' },
    ...{ since: '2026-01-17T08:00:00.000Z', created_at: '2026-01-17T08:00:00.000Z' },
  } as unknown as AgentView
  const line = (cost: Partial<AgentView>): string =>
    runningAgentsView(
      { agents: [{ ...AGENT, ...cost }] },
      { width: 100, paint: PLAIN_PAINT, nowMs: Date.UTC(2026, 0, 17, 9) },
    )

  it('is never nothing where no price is known', () => {
    expect(line({ cost_micro_usd: 1_500_000 })).toContain('(claude, $1.50)')
    expect(line({ unpriced_calls: 2 })).toContain('(claude, cost unknown)')
    expect(line({ cost_micro_usd: 1_500_000, unpriced_calls: 2 })).toContain('(claude, $1.50 + unknown)')
    expect(line({ cost_micro_usd: 0 })).toContain('(claude, $0.00)')
  })
})
