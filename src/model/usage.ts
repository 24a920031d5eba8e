import type { SessionId } from './ids.js'
import type { Instant } from './time.js'

/**
 * One call of a model, as its tool recorded it. A tool may write the same call several times (one line per content block,
 * a fork that copies history), each time with the same `message_id`; `largerUsage` says which telling counts.
 * Token classes do not overlap: `input_tokens` leaves out what was read from or written to the prompt cache,
 * and `output_tokens` includes what the model spent on reasoning.
 */
export interface UsageCall {
  message_id: string
  request_id?: string
  session: SessionId
  model: string
  ts: Instant
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_5m_tokens: number
  cache_write_1h_tokens: number
  web_search_requests: number
  service_tier?: string
  speed?: string
  /** What the tool itself says it cost. Kept beside our own figure, never instead of it. */
  cost_usd?: number
}

export type Tokens = Pick<
  UsageCall,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_5m_tokens'
  | 'cache_write_1h_tokens'
  | 'web_search_requests'
>

/** No call has more of anything than this: what a damaged line says beyond it would make every sum unspeakable. */
export const MOST_TOKENS = 1_000_000_000

/** A count as a log gives it; what cannot be one is 0. */
export const tokenCount = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= MOST_TOKENS ? Math.trunc(value) : 0

/** Whether something was given as a count and cannot be one: then a 0 in its place is not what was spent. */
export const isUnreadCount = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'number' && value >= 0 && value <= MOST_TOKENS)

/** What a tool says a call cost, in nano-dollars; undefined when it says nothing that could be. */
export const loggedNanoUsd = (dollars: unknown): number | undefined =>
  typeof dollars === 'number' && dollars > 0 && dollars < 1e6 ? Math.round(dollars * 1e9) : undefined

export const totalTokens = (usage: Tokens): number =>
  usage.input_tokens +
  usage.output_tokens +
  usage.cache_read_tokens +
  usage.cache_write_5m_tokens +
  usage.cache_write_1h_tokens

/**
 * Of two tellings of one call: the one with more tokens, then with more web searches, else the first.
 * A reply is written while it streams, so an early telling has too few output tokens; none has too many.
 */
export function largerUsage<U extends Tokens>(first: U, second: U): U {
  const more = totalTokens(second) - totalTokens(first)
  if (more !== 0) return more > 0 ? second : first
  return second.web_search_requests > first.web_search_requests ? second : first
}

/**
 * Cache writes by how long they live. A tool may give the total without the split, or a split that does not add up to it:
 * what no class claims was written for five minutes, the default, so that no token is lost.
 */
export function splitCacheWrites(
  total: number,
  fiveMinutes: number,
  oneHour: number,
): Pick<Tokens, 'cache_write_5m_tokens' | 'cache_write_1h_tokens'> {
  return { cache_write_5m_tokens: Math.max(fiveMinutes, total - oneHour), cache_write_1h_tokens: oneHour }
}

/** What the user's config says about a model: dollars per million tokens. Missing cache rates follow the input rate as Anthropic's do. */
export interface PriceOverride {
  input: number
  output: number
  cache_read?: number
  cache_write_5m?: number
  cache_write_1h?: number
  /** Dollars per thousand web searches. */
  web_search?: number
  /** What fast mode multiplies the rates by. */
  fast_factor?: number
}

/** By model name or a pattern with `*`; the longest pattern that matches wins. */
export type PriceOverrides = Readonly<Record<string, PriceOverride>>

/** Tells the user's own prices from others: what was summed up with one set of them has to be summed up again with another. */
export function overridesKey(overrides: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(overrides).sort()
  return JSON.stringify(names.map((name) => [name, overrides[name]]))
}

let [lastName, lastModel] = ['', '']

/**
 * The name of a model, as it may be kept. Logs can be written by anyone, and what looks like a token is no name of a model: those have
 * parts of at most a dozen characters. Asked once per call of a model, nearly always about the same one, so no rules are loaded for it.
 */
export function modelName(name: string): string {
  if (name === lastName) return lastModel
  lastName = name
  lastModel = mayHoldToken(name) ? '[REDACTED:model]' : name
  return lastModel
}

/** Whether a name has a part as long and as mixed as tokens are. */
export const mayHoldToken = (name: string): boolean =>
  (name.match(/[A-Za-z0-9_]{24,}/g) ?? []).some((run) => /[0-9]/.test(run) && /[A-Za-z]/.test(run))
