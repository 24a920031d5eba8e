export { type AgentName, parseAgentName } from './agent-name.js'
export type { AgentSdk, SdkOptions } from './agent-sdk.js'
export { fingerprintOf, type Resumption, type RunShape } from './binding.js'
export { type Compaction, Conversations, type Received } from './conversations.js'
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
export type { LockOptions } from './lock-file.js'
export type { Delivered } from './mirror.js'
export { type AgentExport, exportOpenClaw } from './openclaw-export.js'
export { type AgentImport, type ImportOptions, importOpenClaw } from './openclaw-import.js'
export type { PruneOptions, PruneReceipt } from './prune.js'
export type { ResetOptions, ResetReason, ResetReceipt } from './reset.js'
export { type Revision, RevisionConflict, type Row, type RowFilter } from './rows.js'
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
export {
  clearSessionStoreCacheForTest,
  loadSessionStore,
  saveSessionStore,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
} from './session-store.js'
export { type SessionMessage, type SessionSummary, SessionTools, type SessionToolsOptions } from './session-tools.js'
export { appendAssistantMessageToSessionTranscript } from './session-transcript.js'
export { type Backend, ConversationStore, type StoreOptions } from './store.js'
export type { SessionStore } from './store-file.js'
export type { SpawnLimits, SpawnOptions } from './subagent.js'
export { contextOf, type TranscriptContext } from './transcript-context.js'
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
} from './transcript-format.js'
export { lockTranscript, TranscriptWriter } from './transcript-writer.js'
export { runTurn, type TurnRequest, type TurnResult } from './turn.js'
export type { TurnPrompt } from './turn-prompt.js'
