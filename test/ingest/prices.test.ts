import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Priceable, PriceBook } from '../../src/ingest/index.js'
import type { PriceOverrides } from '../../src/model/index.js'

const SCRIPTS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'scripts')
const AT = Date.parse('2026-10-01T12:00:00Z')

function call(model: string, facts: Partial<Priceable> = {}): Priceable {
  return {
    model,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_5m_tokens: 0,
    cache_write_1h_tokens: 0,
    web_search_requests: 0,
    ...facts,
  }
}
const microOf = (priced: Priceable, overrides?: PriceOverrides, at = AT): number | undefined => {
  const price = new PriceBook(overrides).priceOf(priced, at)
  return price && (price.tokens_nano_usd + price.web_search_nano_usd) / 1_000
}
const MILLION = 1_000_000

it.each(['prices.mjs', 'wasm.mjs'])('what scripts/%s writes is up to date', (script) => {
  execFileSync(process.execPath, [join(SCRIPTS, script), '--check'], { stdio: 'pipe' })
})

it('prices any usage of any listed model as the published package does', async () => {
  const providers = ((await waitForUpdate()) ?? []).filter((provider) => provider.model_match)
  const ids = providers.flatMap((provider) => provider.models.map((model) => model.id))
  const counts = fc.record({
    input_tokens: fc.nat(400_000),
    output_tokens: fc.nat(100_000),
    cache_read_tokens: fc.nat(300_000),
    cache_write_5m_tokens: fc.nat(50_000),
    cache_write_1h_tokens: fc.nat(50_000),
    web_search_requests: fc.nat(5),
  })
  const moment = fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2026-12-31') })
  const book = new PriceBook()
  let priced = 0
  fc.assert(
    fc.property(fc.constantFrom(...ids), counts, moment, (id, tokens, at) => {
      const cacheWrites = tokens.cache_write_5m_tokens + tokens.cache_write_1h_tokens
      const expected = calcPrice(
        {
          input_tokens: tokens.input_tokens + tokens.cache_read_tokens + cacheWrites,
          output_tokens: tokens.output_tokens,
          cache_read_tokens: tokens.cache_read_tokens,
          cache_write_tokens: cacheWrites,
          cache_write_1h_tokens: tokens.cache_write_1h_tokens,
          web_searches: tokens.web_search_requests,
        },
        id,
        { timestamp: new Date(at) },
      )
      if (expected?.model_price.input_mtok === undefined) return // priced by the page or the hour, not by the token
      const price = book.priceOf(call(id, tokens), at)
      expect(price, id).toBeDefined()
      const nano = (price?.tokens_nano_usd ?? 0) + (price?.web_search_nano_usd ?? 0)
      expect(Math.abs(nano - expected.total_price * 1e9), id).toBeLessThan(2)
      priced += 1
    }),
    { numRuns: 5_000 },
  )
  expect(priced).toBeGreaterThan(3_000)
})

it('knows the models of the day, under the names that gateways give them too', () => {
  const million = { input_tokens: MILLION }
  expect(microOf(call('claude-opus-4-5-20251101', million))).toBe(5 * MILLION)
  expect(microOf(call('anthropic/claude-opus-4-5', million))).toBe(5 * MILLION)
  expect(microOf(call('openrouter/anthropic/claude-opus-4.5', million))).toBe(5 * MILLION)
  expect(microOf(call('us.anthropic.claude-opus-4-5-20251101-v1:0', million))).toBe(5 * MILLION)
})

it('an unknown model has no price at all', () => {
  expect(microOf(call('acme-local-coder-32b', { input_tokens: 5 }))).toBeUndefined()
  expect(microOf(call('unknown'))).toBeUndefined()
})

it('one-hour cache writes cost twice the input, five-minute ones a quarter more, reads a tenth', () => {
  expect(microOf(call('claude-opus-4-5', { cache_write_1h_tokens: 1_000 }))).toBe(10_000)
  expect(microOf(call('claude-opus-4-5', { cache_write_5m_tokens: 1_000 }))).toBe(6_250)
  expect(microOf(call('claude-opus-4-5', { cache_read_tokens: 1_000 }))).toBe(500)
})

it('a request beyond the long-context bound pays the higher rate for all of it, and only that request', () => {
  const book = new PriceBook()
  const at = Date.parse('2025-10-01')
  const cost = (size: number): number | undefined =>
    book.priceOf(call('claude-sonnet-4-5', { input_tokens: 1, cache_read_tokens: size - 1 }), at)?.tokens_nano_usd
  expect([cost(200_000), cost(200_001), cost(200_000)]).toEqual([60_002_700, 120_006_000, 60_002_700])
})

it('web searches are charged apart', () => {
  expect(new PriceBook().priceOf(call('claude-opus-4-5', { web_search_requests: 3 }), AT)).toEqual({
    tokens_nano_usd: 0,
    web_search_nano_usd: 30_000_000,
  })
})

it('fast mode multiplies where its factor is known, and is unknown elsewhere', () => {
  const fast = { speed: 'fast', output_tokens: 1_000 }
  expect(microOf(call('claude-opus-4-6', fast))).toBe(6 * 25_000)
  expect(microOf(call('claude-haiku-4-5', fast))).toBeUndefined()
  expect(microOf(call('claude-haiku-4-5', fast), { 'claude-haiku*': { input: 1, output: 5, fast_factor: 3 } })).toBe(
    15_000,
  )
})

it('batch calls cost half', () => {
  expect(microOf(call('claude-opus-4-5', { service_tier: 'batch', output_tokens: 1_000 }))).toBe(12_500)
})

it('an override beats the list, and the longest pattern beats the others', () => {
  const overrides: PriceOverrides = {
    'acme-*': { input: 1, output: 2 },
    'acme-local-*': { input: 0, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 },
    'claude-opus-4-5': { input: 2, output: 4, cache_read: 0.25, web_search: 5 },
  }
  expect(microOf(call('acme-cloud', { input_tokens: 10, output_tokens: 10 }), overrides)).toBe(30)
  expect(microOf(call('acme-local-32b', { input_tokens: 10, output_tokens: 10 }), overrides)).toBe(0)
  const usage = { input_tokens: 100, cache_read_tokens: 100, cache_write_5m_tokens: 100, cache_write_1h_tokens: 100 }
  expect(microOf(call('claude-opus-4-5', { ...usage, web_search_requests: 1 }), overrides)).toBe(
    200 + 25 + 250 + 400 + 5_000,
  )
})

it('the version of a price book changes with its overrides, not with their order', () => {
  const a = { input: 1, output: 2 }
  const b = { input: 3, output: 4 }
  expect(new PriceBook({ a, b }).version).toBe(new PriceBook({ b, a }).version)
  expect(new PriceBook({ a }).version).not.toBe(new PriceBook({ a: b }).version)
})
