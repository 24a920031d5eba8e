import type { Instant, SessionId, UsageCall } from '../../model/index.js'
import { countAt, type JsonObject, objectAt, textAt } from '../json-value.js'

/** Whose call it was, and when. */
export interface CallContext {
  session: SessionId
  /** The one that made it, which is another for what was copied: calls of old logs are named after it. */
  maker: SessionId
  task: string | undefined
  model: string
  ts: Instant
}

export interface SavedMeter {
  total: number
  searches: number
}

/** The calls of a thread. Each is logged as a `token_usage_record`, and again as a `token_count`, which is all that old logs have. */
export class CodexMeter {
  /** The thread's tokens at the last reported call. */
  #total: number
  /** Web searches since then: they are part of the next call. */
  #searches: number

  constructor(saved: SavedMeter | undefined) {
    this.#total = saved?.total ?? 0
    this.#searches = saved?.searches ?? 0
  }

  save(): SavedMeter {
    return { total: this.#total, searches: this.#searches }
  }

  countSearch(): void {
    this.#searches += 1
  }

  fromRecord(entry: JsonObject, call: CallContext): UsageCall | undefined {
    const usage = objectAt(entry, 'usage')
    if (!usage) return undefined
    this.#total = totalOf(objectAt(entry, 'thread_token_usage')) || this.#total
    // Providers may number responses per process; the turn's id makes the pair unique, and copies keep both.
    const turn = textAt(entry, 'turn_id') ?? call.maker
    return this.#usage(usage, `${turn}/${textAt(entry, 'response_id') ?? this.#total}`, call)
  }

  /** The last call and the thread's total, repeated whenever a rate limit changes. */
  fromCount(info: JsonObject | undefined, call: CallContext): UsageCall | undefined {
    const total = totalOf(objectAt(info, 'total_token_usage'))
    const last = objectAt(info, 'last_token_usage')
    if (!last || total === 0 || total === this.#total) return undefined
    this.#total = total
    return this.#usage(last, `${call.task ?? call.maker}/${total}`, call)
  }

  /** Codex counts what was cached within `input_tokens`, and reasoning within `output_tokens`. */
  #usage(usage: JsonObject, message_id: string, { session, model, ts }: CallContext): UsageCall {
    const cached = countAt(usage, 'cached_input_tokens')
    const written = countAt(usage, 'cache_write_input_tokens')
    const web_search_requests = this.#searches
    this.#searches = 0
    return {
      message_id,
      session,
      model,
      ts,
      input_tokens: Math.max(0, countAt(usage, 'input_tokens') - cached - written),
      output_tokens: countAt(usage, 'output_tokens'),
      cache_read_tokens: cached,
      cache_write_5m_tokens: written,
      cache_write_1h_tokens: 0,
      web_search_requests,
    }
  }
}

const totalOf = (usage: JsonObject | undefined): number => countAt(usage, 'total_tokens')
