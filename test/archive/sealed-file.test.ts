import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { archivedTexts } from '../../src/archive/archived-texts.js'
import { checkedLine } from '../../src/archive/checked-line.js'
import { originOf, packPassages, type SharedWords, type WordPlace } from '../../src/archive/index.js'
import { parseSealed, sealedBytes } from '../../src/archive/sealed-file.js'
import type { Instant, SessionId } from '../../src/model/index.js'
import { type Fact, foldSession } from '../../src/tools/index.js'
import { AT, aBatch, aLog, openArchive, prompt, reply, scratch } from './scratch-archive.js'

const LOG = aLog()
const HEADER = {
  ...originOf(LOG),
  ...{ place: 'a', stamp: '1', size: 10, modified_at: AT, id: '0123456789abcdef', sealed_at: AT },
}
const factsIn = (bytes: Buffer): Fact[] => {
  const content = parseSealed(bytes)
  if (!('facts' in content)) throw new Error(content.problem)
  expect(content.problem).toBeUndefined()
  return content.facts
}

/** Any text, also halves of characters, line feeds and NULs; some of them long enough to stand apart. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ maxLength: 400 }),
  fc.constantFrom(
    '',
    '\ud83d half of a character, and more than forty of them',
    'ü'.repeat(50),
    `${'x'.repeat(9_000)}\n`,
  ),
)
const time = fc.constantFrom('2026-01-01T10:00:00.000Z', '2026-01-01T23:59:59.999Z', '2026-01-02T00:00:01.000Z')
const count = fc.integer({ min: 0, max: 9 })
const usage = fc.record({
  message_id: fc.constantFrom('m1', 'm2', 'm3'),
  request_id: fc.option(fc.string(), { nil: undefined }),
  session: fc.constantFrom('one', 'two'),
  model: fc.constantFrom('a', 'b'),
  ts: time,
  ...{ input_tokens: count, output_tokens: count, cache_read_tokens: count },
  ...{ cache_write_5m_tokens: count, cache_write_1h_tokens: count, web_search_requests: count },
  service_tier: fc.option(fc.constantFrom('standard', 'batch'), { nil: undefined }),
  cost_usd: fc.option(fc.constantFrom(0.5, 1), { nil: undefined }),
})
const turn = fc.integer({ min: 1, max: 2 })
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
/** Every field that a kind can have, or not: a field that is forgotten when it is written would be lost. */
const inTurn = { turn, at: maybe(time), agent: maybe(fc.constantFrom('a1', 'a2')) }
const flag = maybe(fc.boolean())
const fact = fc.oneof(
  fc.record({
    ...{ kind: fc.constant('turn'), ...inTurn, prompt: text, by: fc.constantFrom('person', 'tool'), follows: count },
    ...{ copied: flag, spawned_by: maybe(fc.constant('c1')), prompt_chars: maybe(count) },
  }),
  fc.record({ kind: fc.constant('said'), ...inTurn, message: fc.constantFrom('m1', 'm2'), part: fc.string(), text }),
  fc.record({
    ...{ kind: fc.constant('tool-call'), ...inTurn, call: fc.constantFrom('c1', 'c2'), name: fc.string() },
    ...{ arguments: fc.dictionary(fc.string(), text), argument_names: maybe(fc.array(fc.string(), { maxLength: 3 })) },
  }),
  fc.record({
    ...{ kind: fc.constant('tool-result'), ...inTurn, call: fc.constantFrom('c1', 'c2'), result: text, success: flag },
    ...{ result_chars: maybe(count), duration_ms: maybe(count), agent_started: maybe(fc.constant('a1')) },
  }),
  fc.record({ kind: fc.constant('usage'), ...inTurn, at: time, usage, copied: flag }),
  fc.record({
    ...{ kind: fc.constant('mark'), ...inTurn, mark: fc.constantFrom('completed', 'failed') },
    ...{ detail: maybe(text), duration_ms: maybe(count) },
  }),
  fc.record({ kind: fc.constant('session'), title: text }),
  fc.record({ kind: fc.constant('reported-cost'), cost_usd: fc.constantFrom(0, 0.5), at: maybe(time) }),
) as unknown as fc.Arbitrary<Fact>

/** As they are told: what is undefined is not there. */
const asTold = (facts: readonly Fact[]): Fact[] => JSON.parse(JSON.stringify(facts)) as Fact[]

/** Every other text in blocks, as if the search had it. */
function sharedWords(facts: readonly Fact[]): SharedWords {
  const texts = facts.map((one) => Buffer.from('result' in one ? one.result : 'text' in one ? one.text : ''))
  const { blocks, places } = packPassages(texts.map((bytes) => ({ bytes })))
  const known = new Map(
    facts.map((one, at) => [one, [places[at]?.block, places[at]?.start, texts[at]?.length] as WordPlace]),
  )
  return { blocks, placeOf: (one) => (one.kind === 'turn' ? undefined : known.get(one)) }
}

describe('a sealed file', () => {
  it('says what it was told, whether or not its texts are shared with the search', () => {
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 12 }), fc.boolean(), (made, isShared) => {
        const facts = asTold(made)
        const bytes = sealedBytes(HEADER, facts, isShared ? sharedWords(facts) : undefined)
        const withoutUsage = (all: readonly Fact[]) => all.filter((one) => one.kind !== 'usage')
        expect(withoutUsage(factsIn(bytes))).toEqual(withoutUsage(facts))
        expect(foldSession([factsIn(bytes)]).turns.map((one) => ({ ...one, usage: [] }))).toEqual(
          foldSession([facts]).turns.map((one) => ({ ...one, usage: [] })),
        )
      }),
    )
  })

  it('keeps of a reply that was told several times the largest usage at the earliest time', () => {
    const told = (output_tokens: number, ts: string, more: object = {}): Fact => ({
      kind: 'usage',
      turn: 1,
      at: ts as Instant,
      usage: {
        ...{
          message_id: 'm',
          session: 'one' as SessionId,
          model: 'a',
          ts: ts as Instant,
          input_tokens: 3,
          output_tokens,
        },
        ...{ cache_read_tokens: 0, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0, web_search_requests: 0 },
      },
      ...more,
    })
    const [first, second, third] = ['2026-01-01T23:59:59.000Z', '2026-01-02T00:00:01.000Z', '2026-01-02T00:00:02.000Z']
    const facts = factsIn(
      sealedBytes(HEADER, [told(1, first as string), told(5, second as string), told(9, third as string)]),
    )
    expect(facts).toMatchObject([{ at: third, usage: { output_tokens: 9, ts: first } }])
    const elsewhere = [told(1, first as string), told(5, second as string, { turn: 2 })]
    expect(factsIn(sealedBytes(HEADER, elsewhere))).toEqual(elsewhere)
    expect(factsIn(sealedBytes(HEADER, [told(9, first as string), told(5, second as string)]))).toHaveLength(2)
  })

  it('of any usage keeps what a session cost', () => {
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 12 }), (made) => {
        const facts = asTold(made)
        const tokens = (all: readonly Fact[]) =>
          foldSession([all])
            .turns.flatMap((one) => one.usage.map((call) => ({ ...call, turn: one.number })))
            .sort((a, b) => (a.message_id < b.message_id ? -1 : 1))
        expect(tokens(factsIn(sealedBytes(HEADER, facts)))).toEqual(tokens(facts))
      }),
    )
  })

  it('is noticed when any byte of it is another', () => {
    const facts = [prompt(1, 'ask '.repeat(30)), reply(1, 'answer '.repeat(900))]
    const whole = sealedBytes(HEADER, facts, sharedWords(facts))
    for (let at = 0; at < whole.length; at += 7) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x20
      expect(parseSealed(damaged), `byte ${at}`).toMatchObject({ problem: expect.any(String) })
    }
  })

  it('is shown as a whole to whoever looks for something in it', () => {
    const facts = [
      prompt(1, `${'p'.repeat(60)} NEEDLE-1`),
      reply(1, `${'r'.repeat(60)} NEEDLE-2`),
      prompt(2, 'NEEDLE-3'),
    ]
    const said = archivedTexts(sealedBytes(HEADER, facts, sharedWords(facts)))?.stretches.join('\n')
    for (const needle of ['NEEDLE-1', 'NEEDLE-2', 'NEEDLE-3']) expect(said).toContain(needle)
  })

  it('of the first version is read as well', () => {
    const facts = [prompt(1, 'hello'), reply(1, 'a text that is longer than forty characters, as most texts are')]
    const body = Buffer.from(JSON.stringify(facts))
    const told = { ...HEADER, facts: 2, bytes: body.length, body_crc: crc32(body) }
    const first = Buffer.concat([Buffer.from(checkedLine({ kind: 'sealed', v: 1, ...told })), brotliCompressSync(body)])
    expect(factsIn(first)).toEqual(facts)
  })

  it('of the second version is read as well: texts stand apart, and every fact is an object', () => {
    const facts = [prompt(1, 'hello'), reply(1, 'ä text that is longer than forty characters, as most texts are')]
    const [asked, answered] = facts as [Fact, Extract<Fact, { kind: 'said' }>]
    const words = Buffer.from(`${answered.text}\n`)
    const body = Buffer.concat([words, Buffer.from(JSON.stringify([asked, { ...answered, text: words.length - 1 }]))])
    const told = { ...HEADER, facts: 2, bytes: body.length, texts: words.length, body_crc: crc32(body) }
    const second = [Buffer.from(checkedLine({ kind: 'sealed', v: 2, ...told })), brotliCompressSync(body)]
    expect(factsIn(Buffer.concat(second))).toEqual(facts)
  })
})

it('a log that is over takes the place of a file that tells nothing', async () => {
  const directory = scratch()
  const archive = openArchive(directory)
  const { name } = archive.keyOf(originOf(LOG))
  mkdirSync(join(directory, 'claude'), { recursive: true })
  writeFileSync(join(directory, 'claude', `${name}.sealed`), 'what a broken disk left\n')
  const facts = [prompt(1, 'one')]
  expect(await archive.write([archive.compressed(aBatch(facts, { isOver: true, place: 'a' }))])).toEqual([])
  expect(archive.read({ tool: 'claude', name })).toMatchObject({ facts, problems: [] })
  const late = archive.compressed(aBatch([prompt(1, 'late')], { isOver: true, place: 'b' }))
  expect(await archive.write([late])).toEqual([late])
})
