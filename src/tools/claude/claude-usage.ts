import { type Instant, type SessionId, splitCacheWrites, type UsageCall } from '../../model/index.js'
import { countAt, type JsonObject, objectAt, textAt } from '../json-value.js'

/** The model name of messages that the program wrote itself; no call was made for them. */
export const SYNTHETIC = '<synthetic>'

/** The call that a line of type `assistant` was part of. */
export function usageOf(record: JsonObject, session: SessionId, ts: Instant): UsageCall | undefined {
  const message = objectAt(record, 'message')
  const usage = objectAt(message, 'usage')
  if (!usage || message?.model === SYNTHETIC) return undefined
  const message_id = textAt(message, 'id') ?? textAt(record, 'requestId') ?? textAt(record, 'uuid')
  if (!message_id) return undefined
  const classes = objectAt(usage, 'cache_creation')
  const { cache_write_5m_tokens, cache_write_1h_tokens } = splitCacheWrites(
    countAt(usage, 'cache_creation_input_tokens'),
    countAt(classes, 'ephemeral_5m_input_tokens'),
    countAt(classes, 'ephemeral_1h_input_tokens'),
  )
  const call: UsageCall = {
    message_id,
    session,
    model: textAt(message, 'model') ?? 'unknown',
    ts,
    input_tokens: countAt(usage, 'input_tokens'),
    output_tokens: countAt(usage, 'output_tokens'),
    cache_read_tokens: countAt(usage, 'cache_read_input_tokens'),
    cache_write_5m_tokens,
    cache_write_1h_tokens,
    web_search_requests: countAt(objectAt(usage, 'server_tool_use'), 'web_search_requests'),
  }
  // Assigned, not spread: made once per line, and a spread takes as long as all of the above.
  const request_id = textAt(record, 'requestId')
  const service_tier = textAt(usage, 'service_tier')
  const speed = textAt(usage, 'speed')
  if (request_id) call.request_id = request_id
  if (service_tier) call.service_tier = service_tier
  if (speed) call.speed = speed
  if (typeof record.costUSD === 'number' && record.costUSD > 0) call.cost_usd = record.costUSD
  return call
}
