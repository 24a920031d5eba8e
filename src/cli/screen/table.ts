import { cutToWidth, displayWidth, truncateToWidth } from './display-width.js'
import type { Paint } from './paint.js'
import { safeText } from './safe-text.js'
import type { Screen } from './screen.js'

export interface Column<Row> {
  header: string
  /** Raw text from data: the table makes it safe. */
  text(row: Row): string
  paint?(paint: Paint, row: Row): (text: string) => string
  align?: 'left' | 'right'
  /** May become narrower, down to this many cells, when the terminal is. Columns without it keep their width. */
  shrinkTo?: number
  /** How it becomes narrower: an ellipsis, or a bare cut for ids, whose beginning is still of use. */
  shrink?: 'ellipsis' | 'cut'
}

const GAP = 2

/** Aligned columns that fit the screen, one line per row. A column in which every row is empty is left out. */
export function table<Row>(rows: readonly Row[], all: readonly Column<Row>[], screen: Screen): string {
  const filled = filledColumns(rows, all)
  const widths = fitted(filled, screen.width)
  const draw = (texts: readonly string[], row: Row | undefined): string => {
    let line = ''
    let used = 0
    for (const [at, text] of texts.entries()) {
      const column = filled[at]?.column
      const left = screen.width - used
      const room = Math.min(widths[at] ?? 0, left)
      if (!column || room <= 0) break
      const isLast = at === texts.length - 1
      const cell = column.shrink === 'cut' ? cutToWidth(text, room) : truncateToWidth(text, room)
      const padding = ' '.repeat(Math.max(0, room - displayWidth(cell)))
      const paint = row === undefined ? screen.paint.bold : (column.paint?.(screen.paint, row) ?? unpainted)
      const painted = cell === '' ? '' : paint(cell)
      line += column.align === 'right' ? padding + painted : painted + (isLast ? '' : padding)
      used += room + GAP
      if (!isLast) line += ' '.repeat(Math.max(0, Math.min(GAP, left - room)))
    }
    return line.trimEnd()
  }
  const headers = filled.map(({ column }) => column.header)
  const lines = rows.map((row, index) =>
    draw(
      filled.map(({ cells }) => cells[index] ?? ''),
      row,
    ),
  )
  return [draw(headers, undefined), ...lines].join('\n')
}

/** As narrow as it gets without losing what must not shrink. */
export function leastWidth<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): number {
  const filled = filledColumns(rows, columns)
  return filled.reduce((sum, { least }) => sum + least, 0) + GAP * (filled.length - 1)
}

function filledColumns<Row>(rows: readonly Row[], all: readonly Column<Row>[]) {
  return all.flatMap((column) => {
    const cells = rows.map((row) => safeText(column.text(row)))
    const width = cells.reduce((widest, cell) => Math.max(widest, displayWidth(cell)), displayWidth(column.header))
    const least = Math.min(width, column.shrinkTo ?? width)
    return cells.some((cell) => cell !== '') ? [{ column, cells, width, least }] : []
  })
}

const unpainted = (text: string): string => text

/** Takes cells from the widest column that can give, one at a time, until all fit or none can give more. */
function fitted(columns: readonly { width: number; least: number }[], available: number): number[] {
  const widths = columns.map((column) => column.width)
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1) - available
  while (excess > 0) {
    let widest = -1
    for (const [at, width] of widths.entries()) {
      const canGive = width > (columns[at]?.least ?? 0)
      if (canGive && (widest < 0 || width > (widths[widest] ?? 0))) widest = at
    }
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}
