import {
  matchesPattern,
  overridesKey,
  type PriceOverride,
  type PriceOverrides,
  type Tokens,
  totalTokens,
} from '../../model/index.js'
import { PriceList, type Rate } from './price-list.js'
import { PRICE_SOURCE } from './price-table.js'

/** What a price depends on, apart from the tokens. */
export interface Priceable extends Tokens {
  model: string
  service_tier?: string | undefined
  speed?: string | undefined
}

/** Whole billionths of a dollar: fine enough that no list price is rounded, so sums do not depend on their order. */
export interface Price {
  tokens_nano_usd: number
  web_search_nano_usd: number
}

/** Fast mode multiplies every token rate; the published list has no column for it. */
const FAST_FACTORS: readonly (readonly [model: RegExp, factor: number])[] = [
  [/^claude-opus-4-[67]/, 6],
  [/^claude-opus-4-8/, 2],
]
/** Both makers that offer these tiers charge half. */
const HALF_PRICE_TIERS = new Set(['batch', 'flex'])
/** Anthropic's rules, for overrides that leave the cache rates out. */
const CACHE_FACTORS = { read: 0.1, write5m: 1.25, write1h: 2 }

/** Per token, in millionths of a millionth of a dollar: one dollar per million tokens is a million of them. */
const ONE_DOLLAR_PER_MILLION = 1_000_000

interface Tariff {
  /** It holds for calls made in this time, with a request of this many tokens. */
  fromMs: number
  untilMs: number
  above: number
  upTo: number
  input: number
  output: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  /** Per request, in nano-dollars: the same number that the dollars per thousand give above. */
  webSearch: number
}

/** Prices calls by the user's overrides, else by the published list. */
export class PriceBook {
  /** Changes whenever a stored price may have become wrong. */
  readonly version: string
  #list: PriceList | undefined
  readonly #overrides: PriceOverrides
  readonly #tariffs = new Map<string, Tariff>()
  readonly #overrideOf = new Map<string, PriceOverride | undefined>()

  constructor(overrides: PriceOverrides = {}) {
    this.#overrides = overrides
    this.version = `${PRICE_SOURCE} ${overridesKey(overrides)}`
  }

  /** Undefined means unknown, which is not the same as free. */
  priceOf(call: Priceable, atMs: number): Price | undefined {
    const request = totalTokens(call) - call.output_tokens
    let tariff = this.#tariffs.get(call.model)
    if (!tariff || atMs < tariff.fromMs || atMs >= tariff.untilMs || request <= tariff.above || request > tariff.upTo) {
      tariff = this.#tariffOf(call.model, atMs, request)
      if (!tariff) return undefined
      this.#tariffs.set(call.model, tariff)
    }
    const factor = call.speed === 'fast' || call.service_tier !== 'standard' ? this.#factorOf(call) : 1
    if (factor === undefined) return undefined
    const picos =
      call.input_tokens * tariff.input +
      call.output_tokens * tariff.output +
      call.cache_read_tokens * tariff.cacheRead +
      call.cache_write_5m_tokens * tariff.cacheWrite5m +
      call.cache_write_1h_tokens * tariff.cacheWrite1h
    return {
      tokens_nano_usd: Math.round((picos * factor) / 1_000),
      web_search_nano_usd: call.web_search_requests * tariff.webSearch,
    }
  }

  #tariffOf(model: string, atMs: number, request: number): Tariff | undefined {
    const override = this.#override(model)
    if (override) return fromOverride(override)
    this.#list ??= new PriceList()
    const found = this.#list.ratesOf(model, atMs)
    if (!found) return undefined
    const [input, output, cacheRead, cacheWrite, cacheWrite1h, webSearches] = found.rates
    const bounds = found.rates.flatMap((rate) => (typeof rate === 'number' || !rate ? [] : rate.slice(1).map(startOf)))
    return {
      fromMs: found.fromMs,
      untilMs: found.untilMs,
      above: Math.max(...bounds.filter((bound) => bound < request), -1),
      upTo: Math.min(...bounds.filter((bound) => bound >= request), Number.POSITIVE_INFINITY),
      input: picosAt(input, request),
      output: picosAt(output ?? 0, request),
      cacheRead: picosAt(cacheRead ?? input, request),
      cacheWrite5m: picosAt(cacheWrite ?? input, request),
      cacheWrite1h: picosAt(cacheWrite1h ?? cacheWrite ?? input, request),
      webSearch: picosAt(webSearches ?? 0, request),
    }
  }

  #factorOf(call: Priceable): number | undefined {
    const tier = call.service_tier !== undefined && HALF_PRICE_TIERS.has(call.service_tier) ? 0.5 : 1
    if (call.speed !== 'fast') return tier
    const fast = this.#override(call.model)?.fast_factor ?? FAST_FACTORS.find(([model]) => model.test(call.model))?.[1]
    return fast === undefined ? undefined : tier * fast
  }

  #override(model: string): PriceOverride | undefined {
    if (this.#overrideOf.has(model)) return this.#overrideOf.get(model)
    const fits = Object.keys(this.#overrides).filter((pattern) => matchesPattern(model, pattern))
    const longest = fits.sort((a, b) => b.length - a.length || (a < b ? -1 : 1))[0]
    const override = longest === undefined ? undefined : this.#overrides[longest]
    this.#overrideOf.set(model, override)
    return override
  }
}

const startOf = (tier: unknown): number => (tier as readonly [number, number])[0]

function picosAt(rate: Rate, requestTokens: number): number {
  if (typeof rate === 'number') return Math.round(rate * ONE_DOLLAR_PER_MILLION)
  const [base, ...tiers] = rate
  let dollars = base
  for (const [above, price] of tiers) if (requestTokens > above) dollars = price
  return Math.round(dollars * ONE_DOLLAR_PER_MILLION)
}

function fromOverride(override: PriceOverride): Tariff {
  const picos = (dollars: number): number => Math.round(dollars * ONE_DOLLAR_PER_MILLION)
  return {
    fromMs: Number.NEGATIVE_INFINITY,
    untilMs: Number.POSITIVE_INFINITY,
    above: -1,
    upTo: Number.POSITIVE_INFINITY,
    input: picos(override.input),
    output: picos(override.output),
    cacheRead: picos(override.cache_read ?? override.input * CACHE_FACTORS.read),
    cacheWrite5m: picos(override.cache_write_5m ?? override.input * CACHE_FACTORS.write5m),
    cacheWrite1h: picos(override.cache_write_1h ?? override.input * CACHE_FACTORS.write1h),
    webSearch: picos(override.web_search ?? 0),
  }
}
