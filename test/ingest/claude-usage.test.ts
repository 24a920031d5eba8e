import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ClaudeUsageReader } from '../../src/tools/claude/claude-usage-reader.js'
import type { UsageRecord } from '../../src/tools/index.js'
import { logAt, temporaryDirectory } from './corpus.js'

const SESSION = '11111111-2222-4333-8444-555555555555'

/** In the order of keys of version 2.0.76 and of 2.1.325: usage before the content, type after the message. */
const NEW_FORM = {
  parentUuid: null,
  isSidechain: false,
  message: {
    id: 'msg_01AbCd',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    stop_sequence: null,
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 800,
      cache_read_input_tokens: 15_000,
      output_tokens: 60,
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      service_tier: 'standard',
      cache_creation: { ephemeral_1h_input_tokens: 300, ephemeral_5m_input_tokens: 500 },
      iterations: [],
      speed: 'fast',
    },
    content: [{ type: 'text', text: 'quote \\" { } \u0000 \ud83d é 日本 "usage":{"input_tokens":5}' }],
    stop_reason: 'tool_use',
  },
  requestId: 'req_1',
  type: 'assistant',
  uuid: 'u-1',
  timestamp: '2026-11-15T09:49:19.234Z',
  sessionId: SESSION,
}
const { message, type, ...others } = NEW_FORM
const { usage, ...messageRest } = message
const OLD_FORM = { ...others, type, message: { ...messageRest, usage } }

const reader = new ClaudeUsageReader()
const directory = (): string => temporaryDirectory()
function tellings(path: string, bytes: Buffer | string): UsageRecord[] {
  writeFileSync(path, bytes)
  const told: UsageRecord[] = []
  reader.read(logAt(path), (telling) => told.push(telling))
  return told
}

it.each([
  ['old', OLD_FORM],
  ['new', NEW_FORM],
])('the %s form of a reply is read to the last field', (_, record) => {
  expect(tellings(join(directory(), 'log.jsonl'), `${JSON.stringify(record)}\n`)).toEqual([
    {
      tool: 'claude',
      call: 'msg_01AbCd',
      session: SESSION,
      model: 'claude-opus-5-5',
      at_ms: Date.parse('2026-11-15T09:49:19.234Z'),
      input_tokens: 12,
      output_tokens: 60,
      cache_read_tokens: 15_000,
      cache_write_5m_tokens: 500,
      cache_write_1h_tokens: 300,
      web_search_requests: 2,
      service_tier: 'standard',
      speed: 'fast',
      logged_nano_usd: undefined,
    },
  ])
})

it('the lines of one reply are told once, with the largest output and the earliest time', () => {
  const block = (output_tokens: number, second: number): string =>
    JSON.stringify({
      ...OLD_FORM,
      timestamp: `2026-11-15T09:49:${second}.000Z`,
      message: { ...OLD_FORM.message, usage: { ...usage, output_tokens } },
    })
  const told = tellings(join(directory(), 'log.jsonl'), `${[block(2, 30), block(90, 31), block(4, 29)].join('\n')}\n`)
  expect(told).toMatchObject([{ output_tokens: 90, at_ms: Date.parse('2026-11-15T09:49:29Z') }])
})

function isFilledObject(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  } catch {
    return false
  }
}

it('the quick scan and the parser agree on every line, whatever was done to it', () => {
  const path = join(directory(), 'log.jsonl')
  const lines = [NEW_FORM, OLD_FORM].map((record) => Buffer.from(JSON.stringify(record)))
  const edit = fc.record({
    at: fc.nat(1_200),
    cut: fc.nat(3),
    put: fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        ' ',
        '0',
        '-',
        '1e5',
        '.5',
        'null',
        'true',
        '\\u00e9',
        '\t',
        '\0',
      ),
      fc.constantFrom('"usage":{"output_tokens":1},', '"id":"x",', '"model":"x",', 'é', '2026', '\\ud83d', '\r'),
      fc.string({ maxLength: 4 }),
    ),
  })
  fc.assert(
    fc.property(fc.constantFrom(...lines), fc.array(edit, { maxLength: 3 }), (line, edits) => {
      let bytes = line
      for (const { at, cut, put } of edits) {
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + cut)])
      }
      const quick = tellings(path, Buffer.concat([bytes, Buffer.from('\n')]))
      if (!isFilledObject(bytes)) return
      // An escaped key makes the scan leave the line to the parser, and means nothing there.
      const unsure = Buffer.concat([Buffer.from('{"\\u0000":0,'), bytes.subarray(bytes.indexOf('{') + 1)])
      expect(quick).toEqual(tellings(path, Buffer.concat([unsure, Buffer.from('\n')])))
    }),
    { numRuns: 3_000 },
  )
})

it('a line of any length, at any place relative to the buffer, is read whole', () => {
  const path = join(directory(), 'log.jsonl')
  const reply = (n: number, pad: number): string =>
    JSON.stringify({
      ...OLD_FORM,
      message: { ...OLD_FORM.message, id: `msg_${n}`, content: [{ type: 'text', text: 'x'.repeat(pad) }] },
    })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 1, maxLength: 12 }), (pads) => {
      const told = tellings(path, pads.map((pad, n) => reply(n, pad)).join('\n'))
      expect(told.map((telling) => telling.call)).toEqual(pads.map((_, n) => `msg_${n}`))
    }),
    { numRuns: 30 },
  )
})

it('more odd lines than fit into one batch of the scan are all looked at', () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? '[' : ''))
  const path = join(directory(), 'log.jsonl')
  writeFileSync(path, `${lines.join('\n')}\n${JSON.stringify(NEW_FORM)}\n`)
  const told: UsageRecord[] = []
  const reading = new ClaudeUsageReader().read(logAt(path), (telling) => told.push(telling))
  expect(reading.damaged_lines).toBe(10_000)
  expect(told).toHaveLength(1)
})
