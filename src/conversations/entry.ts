import type { DeliveryContext } from './delivery.js'

/** What a conversation is like: a talk with one person, a group, or a broadcast channel. */
export type SessionChatType = 'dm' | 'group' | 'channel'
export type SessionChannelId = string
export type TtsAutoMode = 'off' | 'always' | 'inbound' | 'tagged'
export type SessionQueueMode =
  | 'steer'
  | 'followup'
  | 'collect'
  | 'steer-backlog'
  | 'steer+backlog'
  | 'queue'
  | 'interrupt'
export type SessionSkillSnapshot = {
  prompt?: string
  skills?: { name: string; primaryEnv?: string }[]
  version?: number
}
export type SessionSystemPromptReport = { source: string; generatedAt: number; [detail: string]: unknown }

/** Where the first message came from. */
export type SessionOrigin = {
  label?: string
  provider?: string
  surface?: string
  chatType?: SessionChatType
  from?: string
  to?: string
  accountId?: string
  threadId?: string | number
}

/** What was true of the agent run when its SDK session was made: the id is resumed only while this still holds. */
export type SdkFingerprint = { cwd: string; model?: string; mcp: string }

/**
 * Everything kept about one conversation. The names are the original's, because its files carry them.
 * Fields that are not listed here pass through untouched: newer versions of the original have many more.
 */
export type SessionEntry = {
  /** Names the transcript. */
  sessionId: string
  /** Last activity, ms. */
  updatedAt: number
  sessionFile?: string
  /** The conversation that started this one (subagents). */
  spawnedBy?: string
  spawnDepth?: number
  /** The conversation a thread hangs on. */
  parentSessionKey?: string
  /** When the present transcript began, ms. */
  sessionStartedAt?: number
  /** When the running turn began, ms. One that is still here when the next turn begins was cut off. */
  turnStartedAt?: number
  /** The transcript before the last reset. */
  previousSessionId?: string

  // The agent session behind it
  sdkSessionId?: string
  sdkFingerprint?: SdkFingerprint
  /** Legacy: provider to session id. */
  cliSessionIds?: Record<string, string>
  /** Legacy. */
  claudeCliSessionId?: string

  // Delivery
  channel?: string
  lastChannel?: SessionChannelId
  lastTo?: string
  lastAccountId?: string
  lastThreadId?: string | number
  deliveryContext?: DeliveryContext

  // Group
  chatType?: SessionChatType
  groupId?: string
  subject?: string
  groupChannel?: string
  space?: string
  displayName?: string

  // Behaviour
  sendPolicy?: 'allow' | 'deny'
  groupActivation?: 'mention' | 'always'
  groupActivationNeedsSystemIntro?: boolean

  // Model and provider
  providerOverride?: string
  modelOverride?: string
  authProfileOverride?: string
  authProfileOverrideSource?: 'auto' | 'user'
  authProfileOverrideCompactionCount?: number

  // Execution
  execHost?: string
  execSecurity?: string
  execAsk?: string
  execNode?: string

  // Preferences
  thinkingLevel?: string
  verboseLevel?: string
  reasoningLevel?: string
  elevatedLevel?: string
  responseUsage?: 'on' | 'off' | 'tokens' | 'full'
  ttsAuto?: TtsAutoMode

  // Queue
  queueMode?: SessionQueueMode
  queueDebounceMs?: number
  queueCap?: number
  queueDrop?: 'old' | 'new' | 'summarize'

  // Usage
  inputTokens?: number
  outputTokens?: number
  totalTokens?: number
  contextTokens?: number
  /** What the present session has cost so far, as its SDK estimates it. */
  estimatedCostUsd?: number
  modelProvider?: string
  model?: string

  // Compaction and memory
  compactionCount?: number
  memoryFlushAt?: number
  memoryFlushCompactionCount?: number

  // State
  systemSent?: boolean
  abortedLastRun?: boolean
  lastHeartbeatText?: string
  lastHeartbeatSentAt?: number

  // Origin
  origin?: SessionOrigin
  label?: string

  // Snapshots
  skillsSnapshot?: SessionSkillSnapshot
  systemPromptReport?: SessionSystemPromptReport
}

/** A change to an entry. A field set to undefined is removed. */
export type EntryPatch = { [Field in keyof SessionEntry]?: SessionEntry[Field] | undefined }

/** The entry after a change. Time never runs backwards: a slow clock must not make a conversation look idle. */
export function mergeEntry(
  current: SessionEntry | undefined,
  patch: EntryPatch,
  nowMs: number,
  freshId: () => string,
): SessionEntry {
  const merged: EntryPatch = { ...current, ...patch }
  for (const [field, value] of Object.entries(merged)) {
    if (value === undefined) delete merged[field as keyof SessionEntry]
  }
  return {
    ...(merged as Partial<SessionEntry>),
    sessionId: merged.sessionId ?? freshId(),
    updatedAt: Math.max(current?.updatedAt ?? 0, patch.updatedAt ?? 0, nowMs),
  }
}

const STORED_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,254}$/

/**
 * An entry as found in a file, with old field names brought up to date; undefined when it is no entry.
 * Written by hand instead of as a schema: a store is read whole for every change, and 10,000 entries pass here each time.
 */
export function tidyEntry(found: unknown): SessionEntry | undefined {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
  const entry = found as Record<string, unknown>
  if (typeof entry.sessionId !== 'string' || !STORED_ID.test(entry.sessionId)) return undefined
  if (typeof entry.updatedAt !== 'number' || !Number.isFinite(entry.updatedAt)) entry.updatedAt = 0
  if (entry.sessionFile !== undefined && typeof entry.sessionFile !== 'string') delete entry.sessionFile
  if (entry.provider !== undefined) rename(entry, 'provider', 'channel')
  if (entry.lastProvider !== undefined) rename(entry, 'lastProvider', 'lastChannel')
  if (entry.room !== undefined) rename(entry, 'room', 'groupChannel')
  return entry as SessionEntry
}

function rename(entry: Record<string, unknown>, from: string, to: string): void {
  entry[to] ??= entry[from]
  delete entry[from]
}
