import { parseKey, type ResetReceipt, type Row, type TranscriptEntry, textOf } from '../../conversations/index.js'
import { instantOf } from '../../model/index.js'
import { present } from '../present.js'

/** A conversation as `--json` prints it. */
export function conversationDocument({ key, revision, entry }: Row) {
  const { agent, kind, channel, thread } = parseKey(key)
  return {
    key,
    agent,
    kind,
    session_id: entry.sessionId,
    updated_at: instantOf(entry.updatedAt),
    revision,
    ...present({
      channel: entry.channel ?? entry.lastChannel ?? channel,
      thread,
      chat_type: entry.chatType,
      label: entry.label,
      display_name: entry.displayName,
      spawned_by: entry.spawnedBy,
      sdk_session_id: entry.sdkSessionId,
      model: entry.model,
      total_tokens: entry.totalTokens,
      send_policy: entry.sendPolicy,
    }),
  }
}

export function messageDocuments(entries: readonly TranscriptEntry[]) {
  return entries.flatMap(({ id, message }) =>
    message ? [{ id, role: message.role, at: instantOf(message.timestamp), text: textOf(message) }] : [],
  )
}

export function resetDocument({ key, reason, previousSessionId, row, archived, destroyed }: ResetReceipt) {
  const session = present({ session_id: row?.entry.sessionId })
  return { key, reason, previous_session_id: previousSessionId, ...session, archived, destroyed }
}
