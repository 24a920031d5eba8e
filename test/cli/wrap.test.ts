import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wrap } from '../../src/cli/screen/wrap.js'

describe('a wrapped text', () => {
  it('is broken between words, never inside one', () => {
    const spent = 'Spent: $1,234.56 today, $12,345.67 in 7 days, $123,456.78 in 30 days, $1,234,567.89 in all'
    expect(wrap(spent, 80)).toEqual([
      'Spent: $1,234.56 today, $12,345.67 in 7 days, $123,456.78 in 30 days,',
      '$1,234,567.89 in all',
    ])
  })

  it('has all words in their order, at any width, and no line is wider unless it is one word', () => {
    const word = fc.constantFrom('a', 'days', '$1,234.56', 'longer-than-most-of-them')
    const words = fc.array(word, { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 40 }), (given, width) => {
        const lines = wrap(given.join(' '), width)
        expect(lines.join(' ').split(' ')).toEqual(given)
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true)
      }),
      { seed: 7 },
    )
  })
})
