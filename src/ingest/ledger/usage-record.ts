import { loggedNanoUsd, modelName, msOf, totalTokens, type UsageCall } from '../../model/index.js'
import type { Fact, UsageRecord } from '../../tools/index.js'

type Source = Pick<Extract<Fact, { kind: 'usage' }>, 'copied' | 'copied_from' | 'copied_at' | 'made'>

export function usageRecordOf(
  tool: string,
  { usage, copied, copied_from, copied_at, made }: { usage: UsageCall } & Source,
): UsageRecord {
  return {
    ...(copied ? { copied: { from: copied_from, into_ms: copied_at && msOf(copied_at) } } : {}),
    tool,
    call: usage.message_id,
    session: usage.session,
    made,
    model: modelName(usage.model),
    at_ms: msOf(usage.ts),
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cache_write_5m_tokens: usage.cache_write_5m_tokens,
    cache_write_1h_tokens: usage.cache_write_1h_tokens,
    web_search_requests: usage.web_search_requests,
    service_tier: usage.service_tier,
    speed: usage.speed,
    logged_nano_usd: loggedNanoUsd(usage.cost_usd),
  }
}

/**
 * Of two tellings of one call, the one that counts: the larger usage, because an early telling of a streamed reply knows too few
 * output tokens and none knows too many. Every further field only breaks ties, so that the answer never depends on the order.
 */
export function fullerRecord(a: UsageRecord, b: UsageRecord): UsageRecord {
  const difference =
    totalTokens(a) - totalTokens(b) ||
    a.web_search_requests - b.web_search_requests ||
    a.output_tokens - b.output_tokens ||
    a.cache_write_1h_tokens - b.cache_write_1h_tokens ||
    a.cache_write_5m_tokens - b.cache_write_5m_tokens ||
    a.cache_read_tokens - b.cache_read_tokens ||
    (a.logged_nano_usd ?? -1) - (b.logged_nano_usd ?? -1) ||
    compare(a.speed ?? '', b.speed ?? '') ||
    compare(a.service_tier ?? '', b.service_tier ?? '') ||
    compare(a.model, b.model)
  return difference >= 0 ? a : b
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A log tells most calls several times: one row for each is enough. */
export function collect(found: Map<string, UsageRecord>, telling: UsageRecord): void {
  const key = `${telling.call}\0${telling.session}`
  const known = found.get(key)
  if (!known) found.set(key, telling)
  else {
    const at_ms = Math.min(known.at_ms, telling.at_ms)
    const fuller = fullerRecord(known, telling)
    const copied = known.copied ?? telling.copied
    const made = known.made ?? telling.made
    if (fuller !== known || at_ms !== known.at_ms || copied !== known.copied || made !== known.made)
      found.set(key, { ...fuller, at_ms, made, ...(copied ? { copied } : {}) })
  }
}
