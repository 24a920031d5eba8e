import { PRICE_TABLE_JSON } from './price-table.js'

/** Dollars per million tokens (web searches: per thousand); with tiers, the whole request pays the rate of its size. */
export type Rate = number | readonly [base: number, ...tiers: (readonly [above: number, rate: number])[]]

/** In the order of the list's columns. A class without a rate of its own is charged as the wider class it belongs to. */
export type Rates = readonly [
  input: Rate,
  output: Rate | null,
  cacheRead: Rate | null,
  cacheWrite: Rate | null,
  cacheWrite1h: Rate | null,
  webSearches: Rate | null,
]

type Condition = { readonly from: string } | { readonly daily: readonly [start: string, end: string] }
/** Later entries win where their condition holds; the first is the fallback. */
type DatedRates = readonly (readonly [Condition | null, Rates])[]

type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }

interface Provider {
  readonly id: string
  readonly match: Match
  readonly also?: readonly string[]
  readonly models: readonly { readonly match: Match; readonly prices: DatedRates }[]
}

/** Rates, and the time for which they are known to hold. */
export interface RatesInForce {
  rates: Rates
  fromMs: number
  untilMs: number
}

/** What the published list says about models, by the same rules of matching as the package it was taken from. */
export class PriceList {
  readonly #providers = JSON.parse(PRICE_TABLE_JSON) as readonly Provider[]
  readonly #found = new Map<string, DatedRates | undefined>()

  /** The rates of a model at a moment, or undefined when the list does not know the model. */
  ratesOf(model: string, atMs: number): RatesInForce | undefined {
    let dated = this.#found.get(model)
    if (!dated && !this.#found.has(model)) {
      dated = spellings(model)
        .map((name) => this.#find(name))
        .find((prices) => prices)
      this.#found.set(model, dated)
    }
    return dated && inForce(dated, atMs)
  }

  #find(name: string): DatedRates | undefined {
    const provider = this.#providers.find((candidate) => matches(candidate.match, name))
    if (!provider) return undefined
    const others = (provider.also ?? []).map((id) => this.#providers.find((candidate) => candidate.id === id))
    for (const candidate of [provider, ...others]) {
      const model = candidate?.models.find((entry) => matches(entry.match, name))
      if (model) return model.prices
    }
    return undefined
  }
}

/** Gateways decorate names (`openrouter/anthropic/claude-x`, `us.anthropic.claude-x`), and some write dates with dashes. */
function spellings(model: string): string[] {
  const name = model.toLowerCase().trim()
  const bare = name.slice(name.lastIndexOf('/') + 1).replace(/^(?:[a-z]+\.)?(?=anthropic\.)anthropic\./, '')
  const dashed = (text: string): string => text.replace(/-(20\d\d)(\d\d)(\d\d)(?=-|:|$)/g, '-$1-$2-$3')
  return [...new Set([name, dashed(name), bare, dashed(bare)])]
}

function matches(match: Match, name: string): boolean {
  if ('or' in match) return match.or.some((part) => matches(part, name))
  if ('and' in match) return match.and.every((part) => matches(part, name))
  if ('equals' in match) return name === match.equals.toLowerCase()
  if ('starts_with' in match) return name.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return name.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return name.includes(match.contains.toLowerCase())
  return new RegExp(match.regex).test(name)
}

function inForce(dated: DatedRates, atMs: number): RatesInForce | undefined {
  const last = dated.findLast(([condition]) => condition === null || holds(condition, atMs)) ?? dated[0]
  if (!last) return undefined
  // Rates that change with the hour are looked up each time.
  if (dated.some(([condition]) => condition && 'daily' in condition))
    return { rates: last[1], fromMs: atMs, untilMs: atMs }
  const changes = dated.flatMap(([condition]) => (condition && 'from' in condition ? [Date.parse(condition.from)] : []))
  return {
    rates: last[1],
    fromMs: Math.max(...changes.filter((ms) => ms <= atMs), Number.NEGATIVE_INFINITY),
    untilMs: Math.min(...changes.filter((ms) => ms > atMs), Number.POSITIVE_INFINITY),
  }
}

function holds(condition: Condition, atMs: number): boolean {
  if ('from' in condition) return atMs >= Date.parse(condition.from)
  const [start = 0, end = 0] = condition.daily.map((time) => Date.parse(`1970-01-01T${time}`) % 86_400_000)
  const now = atMs % 86_400_000
  return end < start ? now >= start || now < end : now >= start && now < end
}
