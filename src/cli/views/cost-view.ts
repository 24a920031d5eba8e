import type { CostReport, CostRow, Totals } from '../../ingest/index.js'
import { grouped, money, rounded } from '../screen/money.js'
import type { Screen } from '../screen/screen.js'
import { type Column, leastWidth, table } from '../screen/table.js'

type Line = Totals & { label: string; isTotal: boolean }

/** One line per key and one for all. Days are in order; elsewhere what costs most comes first. */
export function costView({ by, rows, total }: CostReport, screen: Screen): string {
  if (rows.length === 0) return ''
  const isTime = by === 'day' || by === 'week' || by === 'month'
  const lines: Line[] = [
    ...(isTime ? rows : [...rows].sort(dearestFirst)).map((row) => ({ ...row, label: labelOf(row), isTotal: false })),
    { ...total, label: 'total', isTotal: true },
  ]
  const label: Column<Line> = {
    header: by.toUpperCase(),
    text: (line) => line.label,
    paint: (paint, line) => (line.isTotal ? paint.bold : paint.cyan),
    shrinkTo: 8,
  }
  const cost: Column<Line> = {
    header: 'COST',
    text: money,
    align: 'right',
    paint: (paint, line) => (line.isTotal ? paint.bold : paint.green),
  }
  // The cost is what was asked for: where not all fits, tokens are rounded, and then left out.
  const ways = [tokenColumns(grouped), tokenColumns(rounded), []].map((tokens) => [label, ...tokens, cost])
  const columns = ways.find((way) => leastWidth(lines, way) <= screen.width) ?? [label, cost]
  return table(lines, columns, screen)
}

function tokenColumns(written: (count: number) => string): Column<Line>[] {
  const column = (header: string, count: (line: Line) => number): Column<Line> => ({
    header,
    text: (line) => written(count(line)),
    align: 'right',
  })
  return [
    column('CALLS', (line) => line.calls),
    column('INPUT', (line) => line.input_tokens),
    column('OUTPUT', (line) => line.output_tokens),
    column('CACHE READ', (line) => line.cache_read_tokens),
    column('CACHE WRITE', (line) => line.cache_write_5m_tokens + line.cache_write_1h_tokens),
  ]
}

/** What has no such thing stays last. */
function dearestFirst(a: CostRow, b: CostRow): number {
  const isNone = Number(a.key === undefined) - Number(b.key === undefined)
  return isNone || b.micro_usd - a.micro_usd || b.unpriced_tokens - a.unpriced_tokens
}

const labelOf = ({ key }: CostRow): string => key ?? '(none)'
