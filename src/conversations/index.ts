export { type AgentName, parseAgentName } from './agent-name.js'
export type { Compaction, Received } from './conversation-parts.js'
export { Conversations } from './conversations.js'
export { ConversationsErasure } from './conversations-erasure.js'
export { type DeliveryContext, mergeDelivery, normalizeDelivery } from './delivery.js'
export type {
  EntryPatch,
  SdkFingerprint,
  SessionChannelId,
  SessionChatType,
  SessionEntry,
  SessionOrigin,
  SessionQueueMode,
  SessionSkillSnapshot,
  SessionSystemPromptReport,
  TtsAutoMode,
} from './entry.js'
export { parseFieldChange, SETTABLE_FIELDS } from './entry-field.js'
export type { Surroundings } from './environment.js'
export { type ResetPolicy, type ResetRule, staleReason } from './freshness.js'
export type { Inbound } from './inbound.js'
export {
  type ConversationKey,
  conversationKey,
  KEY_KINDS,
  type KeyKind,
  type KeyParts,
  type KeySpec,
  parseKey,
  threadKey,
} from './key.js'
export { type AgentExport, exportOpenClaw } from './openclaw/openclaw-export.js'
export { type AgentImport, type ImportOptions, importOpenClaw } from './openclaw/openclaw-import.js'
export { type ConversationPolicies, policiesOf, type SendPolicySource } from './policies.js'
export type { PruneOptions, PruneReceipt } from './prune.js'
export type { ResetOptions, ResetReason, ResetReceipt } from './reset.js'
export type { LockOptions } from './rows/lock-file.js'
export { type Revision, RevisionConflict, type Row, type RowFilter } from './rows/rows.js'
export {
  clearSessionStoreCacheForTest,
  loadSessionStore,
  saveSessionStore,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
} from './rows/session-store.js'
export type { SessionStore } from './rows/store-file.js'
export {
  explainSendPolicy,
  resolveSendPolicy,
  type SendAnswer,
  type SendDecision,
  type SendPolicyConfig,
  type SendQuestion,
  type SendRule,
} from './send-policy.js'
export { parseSendPolicy } from './send-policy-file.js'
export {
  type GroupKeyResolution,
  type MsgContext,
  recordSessionMetaFromInbound,
  updateLastRoute,
} from './session-meta.js'
export {
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptPath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
} from './session-paths.js'
export { type SessionMessage, type SessionSummary, SessionTools, type SessionToolsOptions } from './session-tools.js'
export { type Backend, ConversationStore, type StoreOptions } from './store.js'
export type { SpawnLimits, SpawnOptions } from './subagent.js'
export type { Delivered } from './transcript/mirror.js'
export { appendAssistantMessageToSessionTranscript } from './transcript/session-transcript.js'
export { contextOf, type TranscriptContext } from './transcript/transcript-context.js'
export {
  branchTo,
  type ContentBlock,
  parseTranscript,
  type Transcript,
  type TranscriptEntry,
  type TranscriptHeader,
  type TranscriptMessage,
  type TranscriptUsage,
  textOf,
} from './transcript/transcript-format.js'
export { lockTranscript, TranscriptWriter } from './transcript/transcript-writer.js'
export type { AgentSdk, SdkOptions } from './turn/agent-sdk.js'
export { fingerprintOf, type Resumption, type RunShape } from './turn/binding.js'
export { runTurn, type TurnRequest, type TurnResult } from './turn/turn.js'
export type { TurnPrompt } from './turn/turn-prompt.js'
