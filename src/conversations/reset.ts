import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { explainDiskError } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { EntryPatch, SessionEntry } from './entry.js'
import type { Surroundings } from './environment.js'
import { type ResetRule, staleReason } from './freshness.js'
import { type ConversationKey, parseKey } from './key.js'
import { type ConversationRows, type Revision, RevisionConflict, type Row } from './rows/rows.js'
import { archiveName, namesIn, transcriptName, transcriptsOf } from './transcript/transcript-name.js'
import { lockTranscript } from './transcript/transcript-writer.js'
import { lockTurn } from './turn/turn-lock.js'

export const RESET_REASONS = ['new', 'reset', 'idle', 'daily', 'explicit', 'deleted'] as const
export type ResetReason = (typeof RESET_REASONS)[number]

export interface ResetOptions {
  reason?: ResetReason
  /** Keep what the user set and where replies go, under a new session id. Otherwise the entry goes, and the next message makes one. */
  keepMetadata?: boolean
  /** Delete the transcript instead of putting it away under another name. */
  destroyTranscript?: boolean
  revision?: Revision
}

export interface ResetReceipt {
  key: ConversationKey
  reason: ResetReason
  previousSessionId: string
  /** The row afterwards; absent when the entry went. */
  row?: Row
  /** Where the transcripts are now. */
  archived: string[]
  destroyed: string[]
}

interface Place {
  rows: ConversationRows
  /** The agent's transcripts. */
  directory: string
  surroundings: Surroundings
}

/**
 * Ends the present session of a conversation. Refused while a turn runs or its transcript is being written: the writer
 * would go on in a file that has been put away. The entry changes first: a crash after it leaves a transcript that no
 * entry names, which is untidy; the other order would leave an entry that has lost its transcript.
 */
export async function resetConversation(place: Place, row: Row, options: ResetOptions): Promise<ResetReceipt> {
  using hold = await holdSession(place.directory, row, namesIn(place.directory))
  const decide = () => entryAfter(place, row, options)
  const [after] = await place.rows.change([{ key: row.key, expected: options.revision ?? row.revision, decide }])
  return await finish(place, hold, after, options)
}

/** Starts a conversation over when asked to, or when it is stale. */
export async function resetWhenDue(
  place: Place,
  key: ConversationKey,
  rule: ResetRule,
  command: ResetReason | undefined,
): Promise<ResetReceipt | undefined> {
  for (;;) {
    const row = await place.rows.get(key)
    const reason = row && (command ?? staleReason(rule, row.entry, place.surroundings.clock.now()))
    if (!row || !reason) return undefined
    try {
      return await resetConversation(place, row, { reason, keepMetadata: true })
    } catch (error) {
      if (error instanceof RevisionConflict) continue // another message was first: look again
      if (command === undefined && isInUse(error)) return undefined // it is being used, so it is not stale
      throw error
    }
  }
}

/** How many sessions are held at once, and changed in one step: the file backend writes its whole file per step. */
const BATCH = 500

/** The same for many. One that is in use, or was changed after it was chosen, stays as it is and is named in `busy`. */
export async function resetConversations(
  place: Place,
  rows: readonly Row[],
  options: Omit<ResetOptions, 'revision'>,
): Promise<{ reset: ResetReceipt[]; busy: ConversationKey[] }> {
  const reset: ResetReceipt[] = []
  const busy: ConversationKey[] = []
  for (let from = 0; from < rows.length; from += BATCH) {
    const holds: Hold[] = []
    const names = namesIn(place.directory)
    try {
      for (const row of rows.slice(from, from + BATCH)) {
        const hold = await unlessBusy(() => holdSession(place.directory, row, names))
        if (hold) holds.push(hold)
        else busy.push(row.key)
      }
      const changed = new Set<ConversationKey>()
      const after = await place.rows.change(
        holds.map(({ row }) => ({
          key: row.key,
          decide: (current) => {
            if (current?.revision !== row.revision) return current?.entry
            changed.add(row.key)
            return entryAfter(place, row, options)
          },
        })),
      )
      for (const [index, hold] of holds.entries()) {
        if (changed.has(hold.row.key)) reset.push(finish(place, hold, after[index], options))
        else busy.push(hold.row.key)
      }
    } finally {
      for (const hold of holds) hold[Symbol.dispose]()
    }
  }
  return { reset, busy }
}

/** A session that nobody can write to while we hold it. */
interface Hold extends Disposable {
  row: Row
  transcripts: string[]
}

async function holdSession(directory: string, row: Row, names: string[]): Promise<Hold> {
  const locks: Disposable[] = [await lockTurn(directory, row.entry.sessionId, row.key)]
  const release = () => {
    for (const lock of locks) lock[Symbol.dispose]()
  }
  try {
    const transcripts = transcriptsOf(directory, row.entry.sessionId, names)
    for (const path of transcripts) locks.push(await lockTranscript(path, 0))
    return { row, transcripts, [Symbol.dispose]: release }
  } catch (error) {
    release()
    throw error
  }
}

async function unlessBusy<T>(body: () => Promise<T>): Promise<T | undefined> {
  try {
    return await body()
  } catch (error) {
    if (isInUse(error)) return undefined
    throw error
  }
}

/** Somebody writes the transcript, or a turn runs. */
const isInUse = (error: unknown): boolean =>
  error instanceof SkeinError && (error.code === 'transcript-in-use' || error.code === 'conversation-busy')

const entryAfter = (place: Place, row: Row, options: ResetOptions): SessionEntry | undefined =>
  options.keepMetadata ? renewed(row.key, row.entry, place.directory, place.surroundings) : undefined

function finish(place: Place, { row, transcripts }: Hold, after: Row | undefined, options: ResetOptions): ResetReceipt {
  const reason = options.reason ?? 'explicit'
  const receipt = { key: row.key, reason, previousSessionId: row.entry.sessionId, ...(after ? { row: after } : {}) }
  if (options.destroyTranscript) {
    for (const path of transcripts) rmSync(path, { force: true })
    return { ...receipt, archived: [], destroyed: transcripts }
  }
  const why = reason === 'deleted' ? 'deleted' : 'reset'
  const archived = transcripts.map((path) => putAway(path, why, place.surroundings.clock.now()))
  return { ...receipt, archived, destroyed: [] }
}

/** What belongs to the session that ends, and not to the conversation. */
const OF_THE_SESSION: EntryPatch = {
  sdkSessionId: undefined,
  sdkFingerprint: undefined,
  cliSessionIds: undefined,
  claudeCliSessionId: undefined,
  sessionFile: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
  totalTokens: undefined,
  contextTokens: undefined,
  estimatedCostUsd: undefined,
  compactionCount: undefined,
  memoryFlushAt: undefined,
  memoryFlushCompactionCount: undefined,
  authProfileOverrideCompactionCount: undefined,
  systemSent: undefined,
  abortedLastRun: undefined,
  turnStartedAt: undefined,
  skillsSnapshot: undefined,
  systemPromptReport: undefined,
}
/** The same, under the names of newer versions of the original. */
const OF_THE_SESSION_ELSEWHERE = [
  'cliSessionBindings',
  'acpSessionBinding',
  'totalTokensFresh',
  'compactionCheckpoints',
]

function renewed(
  key: ConversationKey,
  entry: SessionEntry,
  directory: string,
  { clock, random }: Surroundings,
): SessionEntry {
  const gone = new Set([...Object.keys(OF_THE_SESSION), ...OF_THE_SESSION_ELSEWHERE])
  const kept = Object.fromEntries(Object.entries(entry).filter(([field]) => !gone.has(field))) as SessionEntry
  const sessionId = random.uuid()
  const now = clock.now()
  return {
    ...kept,
    sessionId,
    ...threadTranscript(key, sessionId, directory),
    previousSessionId: entry.sessionId,
    sessionStartedAt: now,
    updatedAt: Math.max(entry.updatedAt, now),
  }
}

/** The conversation of a thread notes its file, because the name does not follow from the session id alone. */
export function threadTranscript(key: ConversationKey, sessionId: string, directory: string): { sessionFile?: string } {
  const { thread } = parseKey(key)
  return thread === undefined ? {} : { sessionFile: join(directory, transcriptName(sessionId, thread)) }
}

function putAway(path: string, why: 'reset' | 'deleted', nowMs: number): string {
  try {
    let ms = nowMs
    while (existsSync(archiveName(path, why, ms))) ms += 1 // never over an older one
    renameSync(path, archiveName(path, why, ms))
    return archiveName(path, why, ms)
  } catch (error) {
    throw explainDiskError(error, path)
  }
}
