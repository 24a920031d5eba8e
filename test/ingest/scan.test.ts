import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CostReport, Ledger, PriceBook, reportCalls, type ScanReport, scanUsage } from '../../src/ingest/index.js'
import { ClaudeUsageReader } from '../../src/tools/claude/claude-usage-reader.js'
import type { UsageSource } from '../../src/tools/index.js'
import { asTruth, logAt, makeCorpus, temporaryDirectory } from './corpus.js'

const prices = new PriceBook()

function scan(logs: readonly UsageSource[]): { scan: ScanReport; report: CostReport } {
  const ledger = new Ledger()
  const report = scanUsage(logs, { claude: new ClaudeUsageReader() }, (telling) => ledger.tell(telling))
  return { scan: report, report: reportCalls(ledger.calls(), prices, { by: 'model', zone: 'UTC' }) }
}

/** A log that holds exactly these lines. */
function logOf(...lines: (string | Buffer)[]): UsageSource {
  const path = join(temporaryDirectory(), 'log.jsonl')
  writeFileSync(path, '')
  for (const line of lines) {
    appendFileSync(path, line)
    appendFileSync(path, '\n')
  }
  return logAt(path)
}

interface Reply {
  id?: string
  output?: number
  content?: unknown
  usage?: Record<string, unknown>
  top?: Record<string, unknown>
}
function reply({ id = 'msg_1', output = 7, content = [], usage, top }: Reply = {}): string {
  return JSON.stringify({
    parentUuid: null,
    sessionId: 's1',
    type: 'assistant',
    timestamp: '2026-01-17T01:00:00.000Z',
    message: {
      id,
      model: 'claude-opus-4-5',
      role: 'assistant',
      content,
      usage: { input_tokens: 1, output_tokens: output, ...usage },
    },
    ...top,
  })
}
const outputOf = (...lines: (string | Buffer)[]): number => scan([logOf(...lines)]).report.total.output_tokens

it.each([1, 2, 3, 4, 5])('every token of a generated tree is counted once (seed %i)', (seed) => {
  const { truth, logs } = makeCorpus(seed)
  const { scan: reading, report } = scan(logs)
  expect(asTruth(report)).toEqual(truth.byModel)
  expect(report.total.calls).toBe(truth.apiCalls)
  expect(reading).toMatchObject({ files: logs.length, bytes: truth.bytes, unreadable: [] })
})

it('the order of the logs does not change the result', () => {
  const { logs } = makeCorpus(6, { sessions: 30, mb: 1 })
  const expected = scan(logs).report
  fc.assert(
    fc.property(fc.shuffledSubarray(logs, { minLength: logs.length }), (shuffled) => {
      expect(scan([...shuffled, ...shuffled]).report).toEqual(expected)
    }),
    { numRuns: 10 },
  )
})

it('an unknown model has no price, and its tokens are shown as unpriced', () => {
  const { truth, logs } = makeCorpus(7)
  const { total } = scan(logs).report
  const unknown = truth.byModel['acme-local-coder-32b']
  expect(total.unpriced_models).toEqual(unknown ? ['acme-local-coder-32b'] : [])
  expect(total.unpriced_calls).toBe(unknown?.calls ?? 0)
})

it('the largest telling of a call wins, whatever its place', () => {
  expect(outputOf(reply({ output: 3 }), reply({ output: 90 }), reply({ output: 5 }))).toBe(90)
})

it('look-alikes of a usage inside texts and tool arguments are not counted', () => {
  const fake = { type: 'assistant', message: { id: 'x', model: 'm', usage: { input_tokens: 1, output_tokens: 9999 } } }
  expect(
    outputOf(
      reply({ content: [{ type: 'text', text: JSON.stringify(fake) }] }),
      reply({ content: [{ type: 'tool_use', input: fake }] }),
      JSON.stringify({ type: 'user', message: { role: 'user', content: JSON.stringify(fake) }, toolUseResult: fake }),
      JSON.stringify({ parentUuid: null, attachment: fake, type: 'attachment' }),
      JSON.stringify({ type: 'system', ...{ content: fake } }),
    ),
  ).toBe(7)
})

it('a type that comes after a brace in a text is still read', () => {
  const line = JSON.parse(reply()) as { type: string }
  const { type, ...rest } = line
  expect(outputOf(JSON.stringify({ cwd: '/tmp/{odd', ...rest, type }))).toBe(7)
  expect(outputOf(JSON.stringify({ cwd: '"type":"user"', ...rest, type }))).toBe(7)
})

it('escaped keys, spaces, foreign names and lone surrogates are read like any other', () => {
  expect(outputOf(reply().replace('"usage"', '"us\\u0061ge"'))).toBe(7)
  expect(outputOf(JSON.stringify(JSON.parse(reply()), null, 1).replaceAll('\n', ' '))).toBe(7)
  expect(outputOf(reply({ content: [{ type: 'text', text: 'cut \ud83d' }] }))).toBe(7)
  const { report } = scan([logOf(reply().replace('claude-opus-4-5', 'modèle-日本'))])
  expect(report.rows.map((row) => row.key)).toEqual(['modèle-日本'])
})

it('odd counts are read as far as they make sense', () => {
  const usage = {
    input_tokens: -5,
    output_tokens: 7,
    cache_read_input_tokens: null,
    cache_creation_input_tokens: 'many',
  }
  const { total } = scan([logOf(reply({ usage }), 'null', '[]', '3', '"text"')]).report
  expect(total).toMatchObject({ calls: 1, input_tokens: 0, output_tokens: 7, cache_read_tokens: 0 })
})

it('cache writes that no class claims count as five-minute writes', () => {
  const split = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 30 }
  const log = logOf(
    reply({ id: 'a', usage: { cache_creation_input_tokens: 800 } }),
    reply({ id: 'b', usage: { cache_creation_input_tokens: 100, cache_creation: split } }),
  )
  expect(scan([log]).report.total).toMatchObject({ cache_write_5m_tokens: 870, cache_write_1h_tokens: 30 })
})

it('a reply without an id is counted, and its copies are not counted again', () => {
  const line = reply({ top: { uuid: 'u1' } }).replace('"id":"msg_1",', '')
  expect(outputOf(line, line)).toBe(7)
})

it('a record glued to a torn one is saved, and the line is counted as damaged', () => {
  const log = logOf(
    reply({ id: 'torn' }).slice(0, 150) + reply({ id: 'whole' }),
    `\0\0\0\0${reply({ id: 'nul' })}`,
    '{',
  )
  const { scan: reading, report } = scan([log])
  expect(report.total.calls).toBe(2)
  expect(reading.damaged_lines).toBe(3)
})

it('a last line without a line feed counts when it is whole', () => {
  const log = logOf(reply({ id: 'a' }))
  appendFileSync(log.path, reply({ id: 'b' }))
  expect(scan([log]).report.total.calls).toBe(2)
  appendFileSync(log.path, `\n${reply({ id: 'c' }).slice(0, -5)}`)
  expect(scan([log]).report.total.calls).toBe(2)
})

it('a reply of 50 MB in one line is read, and so is what follows it', () => {
  const text = 'x\\"{'.repeat(50 * 256 * 1024)
  const long = reply({ id: 'long', content: [{ type: 'text', text: 'HERE' }] }).replace('HERE', text)
  expect(long.length).toBeGreaterThan(50 * 1024 * 1024)
  expect(outputOf(long, reply({ id: 'next' }), JSON.stringify({ type: 'user', text }))).toBe(14)
})

it('a log that is gone does not hide the others', () => {
  const { scan: reading, report } = scan([{ tool: 'claude', path: '/nowhere/x.jsonl', stamp: '' }, logOf(reply())])
  expect(report.total.calls).toBe(1)
  expect(reading.unreadable).toEqual([{ path: '/nowhere/x.jsonl', reason: 'ENOENT' }])
})

it('no damage to a log makes reading it fail or count more than was there', () => {
  const { logs } = makeCorpus(8, { sessions: 8, mb: 0.3 })
  const bytes = Buffer.concat(logs.map((log) => readFileSync(log.path)))
  const whole = scan(logs).report.total
  const edit = fc.record({
    at: fc.nat(bytes.length - 1),
    bytes: fc.uint8Array({ maxLength: 40 }),
    cut: fc.nat(2_000),
  })
  const path = join(temporaryDirectory(), 'mutated.jsonl')
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      let mutated: Buffer = bytes
      for (const { at, bytes: put, cut } of edits) {
        mutated = Buffer.concat([mutated.subarray(0, at), put, mutated.subarray(at + cut)])
      }
      writeFileSync(path, mutated)
      const { total } = scan([logAt(path)]).report
      // At most one call more per edit: a cut can make a new id out of two.
      expect(total.calls).toBeLessThanOrEqual(whole.calls + edits.length)
      expect(total.calls).toBeGreaterThan(0)
    }),
    { numRuns: 300 },
  )
})
