import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonDocument, jsonLine } from '../../src/operations/index.js'

describe('JSON output', () => {
  it('reads back as what it was, whatever text is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), (key, text) => {
        const value = { [`k${key}`]: [text] }
        expect(JSON.parse(jsonDocument(value))).toEqual(value)
        expect(JSON.parse(jsonLine(value))).toEqual(value)
      }),
    )
  })

  it('holds no character that a terminal acts on, nor one that breaks a line', () => {
    const line = jsonLine({ title: '\x1b[31m\x9b\u202e\u2028\u2029\x7f\ufeff' })
    expect(line).toBe('{"title":"\\u001b[31m\\u009b\\u202e\\u2028\\u2029\\u007f\\ufeff"}')
  })

  it('is indented by two spaces, or on one line in a stream', () => {
    expect(jsonDocument({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}')
    expect(jsonLine({ a: [1] })).toBe('{"a":[1]}')
  })
})
