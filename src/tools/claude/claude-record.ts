import { isUnreadCount, loggedNanoUsd, modelName, tokenCount } from '../../model/index.js'
import type { UsageRecord } from '../log/usage-reader.js'

/** The fields of Claude Code's records that matter here, as far as a record has them. Nothing in them can be trusted. */
interface Line {
  type?: unknown
  sessionId?: unknown
  timestamp?: unknown
  requestId?: unknown
  uuid?: unknown
  costUSD?: unknown
  message?: { id?: unknown; model?: unknown; usage?: Usage | null } | null
  data?: { message?: Line | null } | null
}
interface Usage {
  input_tokens?: unknown
  output_tokens?: unknown
  cache_read_input_tokens?: unknown
  cache_creation_input_tokens?: unknown
  cache_creation?: { ephemeral_5m_input_tokens?: unknown; ephemeral_1h_input_tokens?: unknown } | null
  server_tool_use?: { web_search_requests?: unknown } | null
  service_tier?: unknown
  speed?: unknown
}

/**
 * The usage in one record of a Claude Code log, if there is any. Nothing is dropped for being odd: an unreadable count is 0,
 * and a missing id is made up from what the record does say. `file` stands in for a missing session.
 */
export function tellingOfClaudeRecord(record: Line | null | undefined, file: string): UsageRecord | undefined {
  if (record?.type === 'assistant') return tellingOfReply(record, record.sessionId, file)
  if (record?.type !== 'progress') return undefined
  // Some versions repeat the replies of a sub-agent inside the log of the session that started it.
  const reply = record.data?.message
  if (reply?.type !== 'assistant') return undefined
  return tellingOfReply({ ...reply, timestamp: reply.timestamp ?? record.timestamp }, record.sessionId, file)
}

/** Whether a record of usage contains a count that is not a number. */
export function hasUnreadCount(record: Line | null | undefined): boolean {
  const reply = record?.type === 'progress' ? record.data?.message : record
  const usage = reply?.message?.usage
  return [
    usage?.input_tokens,
    usage?.output_tokens,
    usage?.cache_read_input_tokens,
    usage?.cache_creation_input_tokens,
    usage?.cache_creation?.ephemeral_5m_input_tokens,
    usage?.cache_creation?.ephemeral_1h_input_tokens,
    usage?.server_tool_use?.web_search_requests,
  ].some(isUnreadCount)
}

function tellingOfReply(reply: Line, sessionId: unknown, file: string): UsageRecord | undefined {
  const message = reply.message
  const usage = message?.usage
  if (!usage || typeof usage !== 'object' || Array.isArray(usage) || message.model === '<synthetic>') return undefined
  const session = isText(sessionId) ? sessionId : file
  const atMs = time(reply.timestamp)
  const cacheWrite1h = tokenCount(usage.cache_creation?.ephemeral_1h_input_tokens)
  return {
    tool: 'claude',
    call: isText(message.id) ? message.id : madeUpId(reply, session, atMs),
    session,
    model: isText(message.model) ? modelName(message.model) : 'unknown',
    at_ms: atMs,
    input_tokens: tokenCount(usage.input_tokens),
    output_tokens: tokenCount(usage.output_tokens),
    cache_read_tokens: tokenCount(usage.cache_read_input_tokens),
    // As `splitCacheWrites` does it, without an object more per line.
    cache_write_5m_tokens: Math.max(
      tokenCount(usage.cache_creation?.ephemeral_5m_input_tokens),
      tokenCount(usage.cache_creation_input_tokens) - cacheWrite1h,
    ),
    cache_write_1h_tokens: cacheWrite1h,
    web_search_requests: tokenCount(usage.server_tool_use?.web_search_requests),
    service_tier: isText(usage.service_tier) ? usage.service_tier : undefined,
    speed: isText(usage.speed) ? usage.speed : undefined,
    logged_nano_usd: loggedNanoUsd(reply.costUSD),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** 0, which shows as the first day of 1970, when there is none: an odd date is found sooner than a missing call. */
function time(value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : 0
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0)
}

function madeUpId(reply: Line, session: string, atMs: number): string {
  if (isText(reply.requestId)) return reply.requestId
  return isText(reply.uuid) ? reply.uuid : `${session}@${atMs}`
}
