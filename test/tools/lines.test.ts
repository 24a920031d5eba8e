import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Condenser } from '../../src/tools/log/condense.js'
import { LineReader } from '../../src/tools/log/line-reader.js'
import { loneSurrogates } from '../../src/tools/log/record-reader.js'
import { scratchDirectory } from './log-file.js'

function condensed(json: string, keepBytes: number, pieceLength: number, items = Number.POSITIVE_INFINITY): unknown {
  const bytes = Buffer.from(json)
  const condenser = new Condenser({ bytes: keepBytes, items, total: 1 << 20 })
  for (let at = 0; at < bytes.length; at += pieceLength)
    condenser.push(bytes, at, Math.min(bytes.length, at + pieceLength))
  return JSON.parse(condenser.finish()?.toString('utf8') ?? 'null')
}

/** The same shape, with every text replaced by whether it is a beginning of the one it came from. */
function isCutOf(cut: unknown, whole: unknown): boolean {
  if (typeof whole === 'string') return typeof cut === 'string' && whole.startsWith(cut)
  if (Array.isArray(whole))
    return Array.isArray(cut) && cut.length === whole.length && cut.every((item, index) => isCutOf(item, whole[index]))
  if (typeof whole === 'object' && whole !== null) {
    const [a, b] = [Object.values(cut as object), Object.values(whole)]
    return a.length === b.length && a.every((item, index) => isCutOf(item, b[index]))
  }
  return Object.is(cut, whole)
}

describe('condensed JSON', () => {
  it('is the same when every text is short enough', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, piece) => {
        const json = JSON.stringify(value)
        expect(condensed(json, 1 << 20, piece)).toEqual(JSON.parse(json))
      }),
    )
  })

  it('is valid, has the same shape, and every text is a beginning of the whole one', () => {
    const unicode = fc.string({ unit: 'grapheme', maxLength: 40 })
    const escaped = fc
      .array(fc.constantFrom('\\', '"', '\n', '\u0001', '😀', 'é', 'a'), { maxLength: 30 })
      .map((all) => all.join(''))
    const value = fc.array(fc.oneof(unicode, escaped, fc.integer(), fc.record({ k: escaped, n: fc.boolean() })), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(value, fc.nat(12), fc.integer({ min: 1, max: 9 }), (all, keep, piece) => {
        const json = JSON.stringify(all)
        const asciiOnly = json.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
        expect(isCutOf(condensed(json, Math.max(1, keep), piece), all)).toBe(true)
        expect(isCutOf(condensed(asciiOnly, Math.max(1, keep), piece), all)).toBe(true)
      }),
    )
  })

  it('keeps the first items of every list and object, and all that stands after it', () => {
    const first = (value: unknown, items: number): unknown => {
      if (Array.isArray(value)) return value.slice(0, items).map((item) => first(item, items))
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .slice(0, items)
          .map(([key, item]) => [key, first(item, items)]),
      )
    }
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 9 }),
        (value, items, piece) => {
          const json = JSON.stringify({ before: value, after: 'x' })
          const cut = condensed(json, 1 << 20, piece, items)
          expect(JSON.stringify(cut)).toBe(JSON.stringify(first(JSON.parse(json), items)))
        },
      ),
    )
  })

  it('gives up on what is too long even without its texts', () => {
    const condenser = new Condenser({ bytes: 4, items: Number.POSITIVE_INFINITY, total: 1024 })
    const bytes = Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, () => 1)))
    condenser.push(bytes, 0, bytes.length)
    expect(condenser.finish()).toBeUndefined()
  })
})

describe('lines', () => {
  it('are those of the file, from any offset, whatever their lengths', () => {
    const path = join(scratchDirectory(), 'lines')
    const line = fc.oneof(
      { weight: 6, arbitrary: fc.string({ maxLength: 60 }).map((text) => text.replaceAll('\n', '')) },
      { weight: 1, arbitrary: fc.integer({ min: 250_000, max: 700_000 }).map((length) => 'x'.repeat(length)) },
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.boolean(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lines, ended, from) => {
          const bytes = Buffer.from(lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''))
          writeFileSync(path, bytes)
          const offset = Math.floor(bytes.length * from)
          const file = openSync(path, 'r')
          const reader = new LineReader(file, offset)
          const read: string[] = []
          while (reader.next()) {
            expect(
              bytes
                .subarray(reader.start, reader.terminated ? reader.end - 1 : reader.end)
                .equals(reader.line ?? Buffer.alloc(0)),
            ).toBe(true)
            read.push(reader.line?.toString() ?? '')
          }
          closeSync(file)
          const rest = bytes.subarray(offset).toString()
          const expected = rest.split('\n')
          if (expected.at(-1) === '') expected.pop()
          expect(read).toEqual(expected)
          expect(reader.end).toBe(bytes.length)
        },
      ),
      { numRuns: 60 },
    )
  })
})

it('counts halves of characters, and nothing that only looks like one', () => {
  expect(loneSurrogates('"\\ud83d\\ude80 \\u00e9"')).toBe(0)
  expect(loneSurrogates('"\\ud83d and \\ude80"')).toBe(2)
  expect(loneSurrogates('"\\\\ud83d"')).toBe(0)
  expect(loneSurrogates('"\\ud83d\\ud83d\\ude80"')).toBe(1)
})
