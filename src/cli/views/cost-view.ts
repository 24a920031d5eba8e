import type { CostReport, CostRow, Totals } from '../../ingest/index.js'
import { grouped, money } from '../screen/money.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

type Line = Totals & { label: string; isTotal: boolean }

/** One line per key and one for all. */
export function costView({ by, rows, total }: CostReport, screen: Screen): string {
  if (rows.length === 0) return ''
  const lines: Line[] = [
    ...rows.map((row) => ({ ...row, label: labelOf(row), isTotal: false })),
    { ...total, label: 'total', isTotal: true },
  ]
  const tokens = (header: string, count: (line: Line) => number) => ({
    header,
    text: (line: Line) => grouped(count(line)),
    align: 'right' as const,
  })
  return table<Line>(
    lines,
    [
      {
        header: by.toUpperCase(),
        text: (line) => line.label,
        paint: (paint, line) => (line.isTotal ? paint.bold : paint.cyan),
        shrinkTo: 8,
      },
      tokens('CALLS', (line) => line.calls),
      tokens('INPUT', (line) => line.input_tokens),
      tokens('OUTPUT', (line) => line.output_tokens),
      tokens('CACHE READ', (line) => line.cache_read_tokens),
      tokens('CACHE WRITE', (line) => line.cache_write_5m_tokens + line.cache_write_1h_tokens),
      {
        header: 'COST',
        text: money,
        align: 'right',
        paint: (paint, line) => (line.isTotal ? paint.bold : paint.green),
      },
    ],
    screen,
  )
}

const labelOf = ({ key }: CostRow): string => key ?? '(none)'
