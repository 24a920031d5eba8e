import type { Instant, SessionId, UsageCall } from '../../model/index.js'
import { countAt, type JsonObject } from '../json-value.js'

/** Codex counts what was cached within `input_tokens`, and reasoning within `output_tokens`. */
export function usageOf(
  usage: JsonObject,
  call: { message_id: string; session: SessionId; model: string; ts: Instant },
): UsageCall {
  const cached = countAt(usage, 'cached_input_tokens')
  const written = countAt(usage, 'cache_write_input_tokens')
  return {
    ...call,
    input_tokens: Math.max(0, countAt(usage, 'input_tokens') - cached - written),
    output_tokens: countAt(usage, 'output_tokens'),
    cache_read_tokens: cached,
    cache_write_5m_tokens: written,
    cache_write_1h_tokens: 0,
    web_search_requests: 0,
  }
}

export const totalOf = (usage: JsonObject | undefined): number => countAt(usage, 'total_tokens')
