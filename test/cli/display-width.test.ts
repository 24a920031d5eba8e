import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutToWidth, displayWidth, truncateToWidth } from '../../src/cli/screen/display-width.js'

describe('the width of text on a terminal', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['한국어', 6],
    ['e\u0301tude', 5],
    ['👩🏽‍💻', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['שלום', 4],
  ])('%j takes %i cells', (text, cells) => {
    expect(displayWidth(text)).toBe(cells)
  })

  it('is never exceeded by a truncated text, which still begins like the whole one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
        const cut = truncateToWidth(text, width)
        expect(displayWidth(cut)).toBeLessThanOrEqual(width)
        expect(text.startsWith(cut.replace(/…$/, '')) || cut === text).toBe(true)
      }),
    )
  })

  it('never cuts a character in two', () => {
    expect(cutToWidth('日本', 3)).toBe('日')
    expect(truncateToWidth('👩🏽‍💻👩🏽‍💻', 3)).toBe('👩🏽‍💻…')
    expect(truncateToWidth('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  })
})
