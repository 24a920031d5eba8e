import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safe, safeText } from '../../src/cli/screen/safe-text.js'

/** What must never reach a terminal from data; emoji joiners inside emoji are the one exception and are taken out first. */
const ACTS_OR_HIDES = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const withoutEmoji = (text: string): string =>
  text.replace(/(\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})/gu, '$1')
/** Any text, rich in the characters that matter. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\x1b[31m', '\x9b', '\u202e', '\u200d', '\u200b', '\ufeff', '\ud800', '\udc00', '\u2028', '\x7f'),
      fc.constantFrom('👩', '🏽', '\ufe0f', '💻', '日', 'e\u0301', '\u{e0041}', '\0', '\n', '\u3164'),
    ),
  )
  .map((parts) => parts.join(''))

describe('text from data', () => {
  it('never holds a character that a terminal acts on or hides, whatever it was', () => {
    fc.assert(fc.property(anyText, (text) => !ACTS_OR_HIDES.test(withoutEmoji(safeText(text)))))
  })

  it('is left as it is once it is safe', () => {
    fc.assert(fc.property(anyText, (text) => safeText(safeText(text)) === safeText(text)))
  })

  it('stays readable when it was harmless to begin with', () => {
    for (const text of [
      'Fix the login',
      'Grüße, 世界',
      'naïve e\u0301tude',
      '👩🏽‍💻 at work',
      '❤️',
      '\\x1b',
      'a\u00a0b',
    ]) {
      expect(safeText(text)).toBe(text)
    }
  })

  it.each([
    ['\x1b]0;pwned\x07', '\\x1b]0;pwned\\x07'],
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['\u009b31m', '\\x9b31m'],
    ['abc\u202edef', 'abc\\u202edef'],
    ['zero\u200bwidth\u200d!', 'zero\\u200bwidth\\u200d!'],
    ['\ud800x', '\\ud800x'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['\u2028', '\\u2028'],
    ['a\ufe0f', 'a\\ufe0f'],
    ['\ufe0f\u200d👩', '\\ufe0f\\u200d👩'],
  ])('shows what could act or hide as an escape: %j', (text, shown) => {
    expect(safeText(text)).toBe(shown)
  })

  it('is made safe by the template, which leaves our own words alone', () => {
    expect(safe`Ended ${'\x1b[2J'} after ${3} turns\n`).toBe('Ended \\x1b[2J after 3 turns\n')
  })
})
