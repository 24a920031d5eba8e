import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchText, TextStore } from '../../src/ingest/index.js'
import { indexExpression, parseSearch } from '../../src/ingest/text/search-terms.js'
import { marksIn, snippetOf } from '../../src/ingest/text/snippet.js'
import { SkeinError } from '../../src/model/index.js'

const terms = (text: string) => parseSearch(text, { split: (word) => [word.toLowerCase()], holding: () => [] })
const shape = (text: string) => terms(text).map(({ words, isPrefix }) => words.join('+') + (isPrefix ? '*' : ''))

describe('what is looked for', () => {
  it.each([
    ['retry timeout', ['retry', 'timeout']],
    ['"retry with backoff" time*', ['retry+with+backoff', 'time*']],
    ['read_file src/home/api.ts', ['read+file', 'src+home+api+ts']],
    ['"never closed', ['never+closed']],
    ['foo_b*', ['foo+b*']],
    ['Größe', ['größe']],
    ['NEAR(a, b) AND NOT c:d ^e', ['NEAR+a', 'b', 'AND', 'NOT', 'c+d', 'e']],
  ])('%s', (text, expected) => expect(shape(text)).toEqual(expected))

  it.each(['', '   ', '***', '"', '""', '-- !!', 'a*', 'x'.repeat(2_000), 'a '.repeat(40)])(
    '"%s" is no search',
    (text) => expect(() => terms(text)).toThrow(SkeinError),
  )

  it('asks the index for words in quotes only', () => {
    expect(indexExpression(terms('a" OR b* "c d"'))).toBe('"a" AND "OR" AND "b" AND "c" AND "d"')
  })

  it('an identifier is found with its own joints, a phrase with any', () => {
    const found = (search: string, text: string) =>
      marksIn(text, terms(search)).map(([from, to]) => text.slice(from, to))
    expect(found('read_file', 'read_file my_read_file2 read_file_sync read-file')).toEqual(['read_file', 'read_file'])
    expect(found('"read file"', 'READ_FILE and read,\n  file')).toEqual(['READ_FILE', 'read,\n  file'])
    expect(found('time*', 'Timeout sometime time')).toEqual(['Timeout', 'time'])
  })

  it('a snippet shows the place with the most of it, and its marks are right', () => {
    const text = `alpha ${'x '.repeat(300)}alpha beta${' y'.repeat(300)}`
    const snippet = snippetOf(text, terms('alpha beta'))
    expect(snippet.marks.map(([from, to]) => snippet.text.slice(from, to))).toEqual(['alpha', 'beta'])
    expect(snippet.text.length).toBeLessThan(180)
  })
})

describe('any text', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'"*^():{}+-,.\\/\'%_ \0aAÄé́日\u{1e900}\ud83d🚀\ue000\u001e'), maxLength: 40 }),
    fc
      .array(
        fc.constantFrom(
          'AND',
          'OR',
          'NOT',
          'NEAR(',
          '"',
          '*',
          'text:',
          '{text}',
          '- text',
          'a',
          ')',
          '^b',
          '--',
          ';drop',
        ),
      )
      .map((words) => words.join(' ')),
  )

  it('is a search or a usage error, never an error of SQLite', () => {
    using store = TextStore.empty()
    store.db.run('insert into text_spans (first, last, min_ms, max_ms) values (1, 9, 0, 1)') // so that the index is asked
    fc.assert(
      fc.property(hostile, hostile, (text, tool) => {
        try {
          expect(searchText(store, { text, tool, kind: 'tools', limit: 5 }).hits).toEqual([])
        } catch (error) {
          if (!(error instanceof SkeinError)) throw error
          expect(error.code).toBe('bad-input')
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('has marks inside its snippets', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.constantFrom('a', 'a b', '"a b"', 'aa*'),
        (text, search) => {
          const snippet = snippetOf(text, terms(search))
          for (const [from, to] of snippet.marks) expect(from < to && to <= snippet.text.length).toBe(true)
          expect(snippet.text).not.toMatch(/[\n\r]/)
        },
      ),
    )
  })
})
