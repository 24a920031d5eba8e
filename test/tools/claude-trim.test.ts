import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClaudeTranslator } from '../../src/tools/claude/claude-translator.js'
import { claudeTrim } from '../../src/tools/claude/claude-trim.js'
import { readJsonl } from '../../src/tools/log/jsonl-log.js'
import { fixturesOf, logAt } from '../contracts/tool-log.js'
import { toolNamed } from './log-file.js'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const picked = (from: Json, isWanted: (key: string, value: unknown) => boolean): Json =>
  Object.fromEntries(Object.entries(from).filter(([key, value]) => isWanted(key, value)))
const IDLE = ['userType', 'slug', 'entrypoint', 'sourceToolAssistantUUID', 'role', 'stop_sequence']
const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** What stays of a line, in so many words. Long texts of results are compared apart. */
function expected(line: Json): Json {
  const kept = picked(line, (key, value) =>
    key === 'toolUseResult'
      ? isObject(value)
      : (isScalar(value) && !IDLE.includes(key)) ||
        ['forkedFrom', 'compactMetadata', 'data'].includes(key) ||
        (key === 'message' && isObject(value)),
  )
  if (isObject(kept.toolUseResult)) {
    kept.toolUseResult = picked(kept.toolUseResult, (key) => ['agentId', 'durationMs', 'totalDurationMs'].includes(key))
  }
  if (isObject(kept.message)) kept.message = expectedMessage(kept.message)
  return kept
}

function expectedMessage(message: Json): Json {
  const kept = picked(
    message,
    (key, value) =>
      (isScalar(value) && !IDLE.includes(key)) || key === 'usage' || (key === 'content' && Array.isArray(value)),
  )
  if (Array.isArray(kept.content)) kept.content = kept.content.map(expectedBlock)
  return kept
}

const BLOCK_FIELDS = ['type', 'id', 'name', 'input', 'tool_use_id', 'is_error', 'text', 'content']
function expectedBlock(block: unknown): unknown {
  if (!isObject(block)) return block
  const kept = picked(block, (key) => BLOCK_FIELDS.includes(key))
  for (const key of ['text', 'content']) if (Array.isArray(kept[key])) kept[key] = kept[key].map(expectedBlock)
  return kept
}

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(fc.constantFrom('\\', '"', '\n', '\u0001', '😀', 'é', 'a', '{', '}', ','), { maxLength: 30 })
    .map((all) => all.join('')),
)
const anything = fc.jsonValue({ maxDepth: 3 })
const names = (...all: string[]) => fc.constantFrom(...all)
const block = fc.dictionary(
  names(...BLOCK_FIELDS, 'thinking', 'signature', 'source'),
  fc.oneof(
    words,
    anything,
    fc.constantFrom('tool_result', 'text', 'tool_use'),
    fc.array(fc.dictionary(names('type', 'text', 'source'), words), { maxLength: 3 }),
  ),
)
const message = fc.dictionary(
  names('id', 'model', 'content', 'usage', 'stop_reason', 'container', 'role'),
  fc.oneof(words, anything, fc.array(fc.oneof(block, anything), { maxLength: 3 })),
)
const line = fc.dictionary(
  names(
    'type',
    'uuid',
    'message',
    'toolUseResult',
    'forkedFrom',
    'compactMetadata',
    'attachment',
    'data',
    'cwd',
    'isMeta',
    'slug',
  ),
  fc.oneof(
    words,
    anything,
    message,
    fc.dictionary(names('agentId', 'durationMs', 'totalDurationMs', 'stdout'), anything),
  ),
)

describe('a trimmed line', () => {
  it('says what the whole line says, as far as anybody looks', () => {
    fc.assert(
      fc.property(line, fc.nat(2), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent).replaceAll('\n', ' ')
        const trimmed = claudeTrim.trimmed(Buffer.from(json))
        if (trimmed === undefined) return // halves of characters, names with escapes
        expect(JSON.parse(trimmed)).toEqual(expected(JSON.parse(json)))
      }),
      { numRuns: 3_000 },
    )
  })

  it('keeps the beginning of a long result, and cuts no character in two', () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), fc.boolean(), (parts, inBlock) => {
        const text = parts.join('').padEnd(1, 'x').repeat(5_000)
        const content = inBlock ? [{ type: 'text', text }] : text
        const json = JSON.stringify({
          type: 'user',
          message: { content: [{ type: 'tool_result', tool_use_id: 'a', content }] },
          toolUseResult: { stdout: text },
          uuid: 'u',
        })
        const trimmed = claudeTrim.trimmed(Buffer.from(json))
        if (trimmed === undefined) return
        const [found] = JSON.parse(trimmed).message.content
        const kept: string = inBlock ? found.content[0].text : found.content
        expect(text.startsWith(kept)).toBe(true)
        expect(Buffer.byteLength(JSON.stringify(kept))).toBeGreaterThan(2_085)
        expect(Buffer.from(kept).toString()).toBe(kept) // half a character would not come back
      }),
      { numRuns: 300 },
    )
  })

  it('is not made of anything that is no record', () => {
    fc.assert(
      fc.property(line, fc.nat(), fc.nat(255), (value, at, byte) => {
        const bytes = Buffer.from(JSON.stringify(value))
        bytes[at % bytes.length] = byte === 10 ? 0 : byte
        const trimmed = claudeTrim.trimmed(bytes)
        if (trimmed !== undefined) expect(JSON.parse(bytes.toString())).toBeTypeOf('object')
      }),
      { numRuns: 3_000 },
    )
    for (const odd of ['', ' ', '[]', '1', '{"a":1}{"b":2}', '{"a":1', '{"a":"\\ud83d"}', '{"a":1,}', '{"a":"\u0000"}'])
      expect(claudeTrim.trimmed(Buffer.from(odd)), odd).toBeUndefined()
  })

  it('is empty for copies of requests and backups of files', () => {
    const of = (type: string) =>
      claudeTrim.trimmed(Buffer.from(JSON.stringify({ type, other: { a: [1, { b: 'c' }] } })))
    expect(of('api-request-blob')).toBe('')
    expect(of('file-history-snapshot')).toBe('')
    expect(of('api-request')).toBe('{"type":"api-request"}') // says that the log has begun requests of its own
  })

  it('leaves every fact of the recorded sessions as it was', () => {
    const tool = toolNamed('claude')
    const facts = (path: string, shortcut?: typeof claudeTrim) =>
      [...readJsonl(logAt(tool, path, {}), {}, (setup) => new ClaudeTranslator(setup), shortcut)].map((fact) =>
        fact.kind === 'tool-result' ? { ...fact, result: fact.result.slice(0, 2_000) } : fact,
      )
    const fixtures = fixturesOf('claude').filter(({ path }) => path.endsWith('.jsonl'))
    expect(fixtures.length).toBeGreaterThan(5)
    const trimmedLines = fixtures.flatMap(({ path }) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((text) => text !== '' && claudeTrim.trimmed(Buffer.from(text)) !== undefined),
    )
    expect(trimmedLines.length).toBeGreaterThan(100)
    for (const { path } of fixtures) expect(facts(path, claudeTrim)).toEqual(facts(path))
  })
})
