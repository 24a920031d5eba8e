import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportDocument, markdownOf } from '../../src/interchange/index.js'
import { DEFAULT_PRIVACY } from '../../src/privacy/index.js'
import { AT, everywhere, historyWith } from './history.js'
import { HOSTILE } from './hostile-texts.js'

const markdownWith = (text: string): string =>
  markdownOf(exportDocument([{ history: historyWith(everywhere(text)), policy: DEFAULT_PRIVACY }], { at: AT }))

/** The lines that a viewer formats: those outside of fences, read as CommonMark reads them. */
function formatted(markdown: string): string[] {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of markdown.split(/\r\n|\n|\r/)) {
    const ticks = /^ {0,3}(`{3,})([^`]*)$/.exec(line)
    if (fence === undefined && ticks) fence = ticks[1]
    else if (fence === undefined) lines.push(line)
    else if (ticks && (ticks[1]?.length ?? 0) >= fence.length && ticks[2]?.trim() === '') fence = undefined
  }
  expect(fence).toBeUndefined()
  return lines
}

describe('exported Markdown', () => {
  const shapeOf = (text: string): string[] =>
    formatted(markdownWith(text)).map((line) => /^(#+ |- \w[\w ]*: |\*\*)?/.exec(line)?.[0] ?? '')

  it.each(HOSTILE)('formats nothing of %j', (text) => {
    expect(shapeOf(text)).toEqual(shapeOf('x'))
    for (const line of formatted(markdownWith(text))) {
      expect(line).not.toMatch(/(?<!\\)[<`[\]!&]/)
      expect(line).not.toMatch(/[^\\]:\/\//)
    }
  })

  it('formats nothing of any text: no sign that Markdown knows stands outside of a fence without its backslash', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('`', '~', '\n', '\r', '<', '!', '[', ']', '(', ' ', '\\', '#', 'a') }),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(
        text.filter((one) => one.trim() !== ''),
        (one) => {
          for (const line of formatted(markdownWith(one)))
            expect(line.replace(/\\[^a-zA-Z0-9\s]/g, '')).not.toMatch(/[<>`[\]!&~\\]/)
        },
      ),
      { numRuns: 200 },
    )
  })
})
