import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/screen/display-width.js'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'
import { type Column, table } from '../../src/cli/screen/table.js'

type Row = readonly [id: string, name: string, count: string]
const COLUMNS: Column<Row>[] = [
  { header: 'ID', text: ([id]) => id, shrinkTo: 8, shrink: 'cut' },
  { header: 'NAME', text: ([, name]) => name, shrinkTo: 6 },
  { header: 'COUNT', text: ([, , count]) => count, align: 'right' },
]
const draw = (rows: readonly Row[], width: number): string[] =>
  table(rows, COLUMNS, { width, paint: PLAIN_PAINT, nowMs: 0 }).split('\n')

describe('a table', () => {
  it('aligns its columns by what a terminal shows, not by the number of characters', () => {
    expect(
      draw(
        [
          ['a', '日本', '1'],
          ['bb', 'x', '12'],
        ],
        80,
      ),
    ).toEqual(['ID  NAME  COUNT', 'a   日本      1', 'bb  x        12'])
  })

  it('gives up width where it may: names get an ellipsis, ids a bare cut', () => {
    const [, row] = draw([['0123456789abcdef', 'a rather long name', '7']], 24)
    expect(row).toBe('01234567  a rath…      7')
  })

  it('leaves out a column in which every row is empty', () => {
    expect(draw([['a', '', '1']], 80)).toEqual(['ID  COUNT', 'a       1'])
  })

  it('shows a line break in a cell as an escape, so that a row stays a line', () => {
    expect(draw([['a', 'two\nlines', '1']], 80)).toHaveLength(2)
  })

  it('never writes a line wider than the terminal, whatever is in it', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }),
        fc.integer({ min: 10, max: 100 }),
        (rows, width) => {
          for (const line of draw(rows, width)) expect(displayWidth(line)).toBeLessThanOrEqual(width)
        },
      ),
    )
  })

  it('truncates nothing when nobody looks at it', () => {
    const id = 'x'.repeat(300)
    expect(draw([[id, 'n', '1']], Number.POSITIVE_INFINITY)[1]).toContain(id)
  })
})
