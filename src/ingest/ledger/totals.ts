import { type Tokens, totalTokens } from '../../model/index.js'
import type { Price } from './price-book.js'

/** Tokens and money of some calls. Tokens are whole, money is whole micro-dollars. */
export interface Totals extends Tokens {
  calls: number
  /** Everything that has a price; the calls without one are below, never counted as free. */
  micro_usd: number
  /** The part of `micro_usd` that was charged per web search. */
  web_search_micro_usd: number
  /** Calls whose price is unknown, all their tokens, and their models. */
  unpriced_calls: number
  unpriced_tokens: number
  unpriced_models: string[]
  /** What the tools themselves say, for the calls where they say something. */
  logged_micro_usd: number
}

/** The columns a sum is stored in. */
export interface SumRow extends Tokens {
  calls: number
  tokens_nano_usd: number
  web_search_nano_usd: number
  unpriced_calls: number
  unpriced_tokens: number
  logged_nano_usd: number
}

/** Adds up calls exactly: in whole nano-dollars, so that neither order nor grouping changes the result. */
export class Sum implements SumRow {
  calls = 0
  input_tokens = 0
  output_tokens = 0
  cache_read_tokens = 0
  cache_write_5m_tokens = 0
  cache_write_1h_tokens = 0
  web_search_requests = 0
  tokens_nano_usd = 0
  web_search_nano_usd = 0
  unpriced_calls = 0
  unpriced_tokens = 0
  logged_nano_usd = 0
  readonly #unpricedModels = new Set<string>()

  addCall(call: Tokens & { model: string; logged_nano_usd?: number | undefined }, price: Price | undefined): void {
    this.calls += 1
    this.#addTokens(call)
    this.logged_nano_usd += call.logged_nano_usd ?? 0
    if (price) {
      this.tokens_nano_usd += price.tokens_nano_usd
      this.web_search_nano_usd += price.web_search_nano_usd
      return
    }
    this.unpriced_calls += 1
    this.unpriced_tokens += totalTokens(call)
    this.#unpricedModels.add(call.model)
  }

  /** `models` are those that `row` has calls of. */
  addRow(row: SumRow, models: Iterable<string>): void {
    this.calls += row.calls
    this.#addTokens(row)
    this.tokens_nano_usd += row.tokens_nano_usd
    this.web_search_nano_usd += row.web_search_nano_usd
    this.unpriced_calls += row.unpriced_calls
    this.unpriced_tokens += row.unpriced_tokens
    this.logged_nano_usd += row.logged_nano_usd
    if (row.unpriced_calls > 0) for (const model of models) this.#unpricedModels.add(model)
  }

  add(sum: Sum): void {
    this.addRow(sum, sum.#unpricedModels)
  }

  totals(): Totals {
    return {
      calls: this.calls,
      input_tokens: this.input_tokens,
      output_tokens: this.output_tokens,
      cache_read_tokens: this.cache_read_tokens,
      cache_write_5m_tokens: this.cache_write_5m_tokens,
      cache_write_1h_tokens: this.cache_write_1h_tokens,
      web_search_requests: this.web_search_requests,
      micro_usd: Math.round((this.tokens_nano_usd + this.web_search_nano_usd) / 1_000),
      web_search_micro_usd: Math.round(this.web_search_nano_usd / 1_000),
      unpriced_calls: this.unpriced_calls,
      unpriced_tokens: this.unpriced_tokens,
      unpriced_models: [...this.#unpricedModels].sort(),
      logged_micro_usd: Math.round(this.logged_nano_usd / 1_000),
    }
  }

  #addTokens(tokens: Tokens): void {
    this.input_tokens += tokens.input_tokens
    this.output_tokens += tokens.output_tokens
    this.cache_read_tokens += tokens.cache_read_tokens
    this.cache_write_5m_tokens += tokens.cache_write_5m_tokens
    this.cache_write_1h_tokens += tokens.cache_write_1h_tokens
    this.web_search_requests += tokens.web_search_requests
  }
}
