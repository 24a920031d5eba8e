import { parseSessionId, SkeinError } from '../model/index.js'
import type { AgentName } from './agent-name.js'
import type { Compaction, ConversationsParts, Received } from './conversation-parts.js'
import { type DeliveryContext, deliveryFields, deliveryOf, mergeDelivery, withRoute } from './delivery.js'
import { type EntryPatch, mergeEntry, type SdkFingerprint, type SessionEntry } from './entry.js'
import { resetRuleFor } from './freshness.js'
import { type Inbound, metaFromInbound, resetCommandIn, routeOf } from './inbound.js'
import { type ConversationKey, parseKey, threadKey } from './key.js'
import { chooseForPruning, type PruneOptions, type PruneReceipt } from './prune.js'
import {
  type ResetOptions,
  type ResetReceipt,
  resetConversation,
  resetConversations,
  resetWhenDue,
  threadTranscript,
} from './reset.js'
import type { LockFile } from './rows/lock-file.js'
import type { Revision, Row, RowFilter } from './rows/rows.js'
import { explainSendPolicy, type SendAnswer, type SendPolicyConfig, type SendQuestion } from './send-policy.js'
import { type SpawnOptions, spawnedEntry, spawnRefusal } from './subagent.js'
import { type Delivered, mirrorMessage } from './transcript/mirror.js'
import { readTranscript } from './transcript/transcript-file.js'
import {
  branchTo,
  type Transcript,
  type TranscriptEntry,
  type TranscriptMessage,
} from './transcript/transcript-format.js'
import { transcriptOf } from './transcript/transcript-name.js'
import { lockTranscript, TranscriptWriter } from './transcript/transcript-writer.js'
import { bound, type Resumption, resumptionOf, UNBOUND } from './turn/binding.js'
import { lockTurn } from './turn/turn-lock.js'

/** The conversations of one agent. Every method refuses a key of another agent before it looks at anything. */
export class Conversations {
  constructor(private readonly parts: ConversationsParts) {}

  get agent(): AgentName {
    return this.parts.agent
  }

  /** Where the agent's transcripts are. */
  get directory(): string {
    return this.parts.directory
  }

  async get(key: string): Promise<Row | undefined> {
    return this.parts.rows.get(this.#own(key))
  }

  /** Newest first. */
  async list(filter: RowFilter = {}): Promise<Row[]> {
    return this.parts.rows.list(filter)
  }

  /**
   * Changes the fields that `patch` names; one set to undefined is removed. With `revision`, only if nobody has changed
   * the entry since: otherwise throws `RevisionConflict`, which carries the current revision.
   */
  async patch(
    key: string,
    patch: EntryPatch,
    options: { revision?: Revision; onMissing?: 'create' | 'fail' } = {},
  ): Promise<Row> {
    const own = this.#own(key)
    this.#checkPatch(patch)
    return this.#change(own, options.revision, (current) => {
      if (!current && options.onMissing !== 'create') throw notFound(own)
      return current ? this.#merged(current.entry, patch) : this.#fresh(own, patch)
    })
  }

  /** Takes over whole entries, as they are, in one step. Returns those that were refused, with the reason. */
  async adopt(found: readonly { key: string; entry: SessionEntry }[]): Promise<Map<string, string>> {
    const refused = new Map<string, string>()
    const steps = found.flatMap(({ key, entry }) => {
      try {
        const own = this.#own(key)
        this.#checkIds(entry)
        return [{ key: own, decide: () => entry }]
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error
        refused.set(key, error.message)
        return []
      }
    })
    await this.parts.rows.change(steps)
    return refused
  }

  /** Records an incoming message. The first one creates the conversation; if it is stale, or on `/new`, it starts over. */
  async receive(key: string, inbound: Inbound = {}): Promise<Received> {
    const own = this.#own(key)
    const command = resetCommandIn(inbound.text)
    const rule = resetRuleFor(await this.parts.policies.reset(), parseKey(own))
    const reset = await resetWhenDue(this.parts, own, rule, command?.reason)
    let created = false
    const row = await this.#change(own, undefined, (current) => {
      created = !current
      const route = deliveryFields(mergeDelivery(routeOf(own, inbound), current && deliveryOf(current.entry)))
      const meta = { ...metaFromInbound(own, inbound, current?.entry), ...route }
      return current ? this.#merged(current.entry, meta) : this.#fresh(own, meta)
    })
    return { row, created, text: command ? command.rest : (inbound.text ?? ''), ...(reset ? { reset } : {}) }
  }

  /** Sets where the next reply goes. What `delivery` leaves out stays as it was. Makes the conversation when there is none. */
  async route(key: string, delivery: DeliveryContext): Promise<Row> {
    const own = this.#own(key)
    return this.#change(own, undefined, (current) => {
      const route = deliveryFields(mergeDelivery(delivery, current && deliveryOf(current.entry)))
      return current ? this.#merged(current.entry, route) : this.#fresh(own, route)
    })
  }

  /**
   * Whether the agent may send to this conversation, and what decided. The store's policy unless another is given; `file` says where
   * that is written, if it decided.
   */
  async sendDecision(
    key: string,
    options: Pick<SendQuestion, 'channel' | 'chatType'> & { policy?: SendPolicyConfig } = {},
  ): Promise<SendAnswer & { file?: string }> {
    const { policy, ...facts } = options
    const own = this.#own(key)
    const entry = (await this.parts.rows.get(own))?.entry
    const source = policy ? { policy } : await this.parts.policies.send()
    const cfg = { session: { sendPolicy: source.policy } }
    const answer = explainSendPolicy({ cfg, sessionKey: own, ...facts, ...(entry ? { entry } : {}) })
    const isByPolicy = answer.by.kind === 'rule' || answer.by.kind === 'default'
    return isByPolicy && 'file' in source && source.file !== undefined ? { ...answer, file: source.file } : answer
  }

  /** The conversation of a thread inside another one, made when there is none. Its transcript is a file of its own. */
  async thread(place: string, thread: string | number): Promise<Row> {
    const own = this.#own(place)
    const key = threadKey(own, thread)
    const above = await this.#found(own)
    const { channel, chatType, groupId, subject, groupChannel, space, deliveryContext } = above.entry
    const inherited = {
      channel,
      chatType,
      groupId,
      subject,
      groupChannel,
      space,
      deliveryContext,
      parentSessionKey: own,
    }
    return this.#change(
      key,
      undefined,
      (current) => current?.entry ?? this.#fresh(key, { ...inherited, lastThreadId: thread }),
    )
  }

  /** Starts a subagent's conversation. Refused beyond the limits of depth and number. */
  async spawn(spawner: string, options: SpawnOptions = {}): Promise<Row> {
    const own = this.#own(spawner)
    const above = await this.#found(own)
    const siblings = await this.parts.rows.list({ spawnedBy: own })
    const refusal = spawnRefusal(above.entry, siblings.length, this.parts.spawnLimits)
    if (refusal) throw refusal
    const { key, patch } = spawnedEntry(above, this.agent, options, this.parts.surroundings)
    return this.#change(key, 'absent', () => this.#fresh(key, patch))
  }

  /** Ends the present session: see `ResetOptions` for what is kept. */
  async reset(key: string, options: ResetOptions = {}): Promise<ResetReceipt> {
    return resetConversation(this.parts, await this.#found(this.#own(key)), options)
  }

  /** Resets every conversation the filter finds; one that is in use is passed over and named. */
  async resetAll(
    filter: RowFilter,
    options: Omit<ResetOptions, 'revision'> = {},
  ): Promise<{ reset: ResetReceipt[]; busy: ConversationKey[] }> {
    return resetConversations(this.parts, await this.list(filter), options)
  }

  async remove(key: string, options: Pick<ResetOptions, 'revision' | 'destroyTranscript'> = {}): Promise<ResetReceipt> {
    return this.reset(key, { ...options, reason: 'deleted', keepMetadata: false })
  }

  /** Removes old conversations and those beyond a number; their transcripts are put away. */
  async prune(options: PruneOptions): Promise<PruneReceipt> {
    const rows = await this.list()
    const chosen = chooseForPruning(rows, (row) => parseKey(row.key).kind, options, this.parts.surroundings.clock.now())
    const end: ResetOptions = { reason: 'deleted', destroyTranscript: options.destroyTranscripts ?? false }
    const goners = options.dryRun ? [] : chosen.map(({ row }) => row)
    const { busy } = await resetConversations(this.parts, goners, end)
    const pruned = chosen.flatMap(({ row: { key, entry }, reason }) =>
      busy.includes(key) ? [] : [{ key, reason, updatedAt: entry.updatedAt }],
    )
    return { pruned, busy, kept: rows.length - pruned.length }
  }

  /** What was said, brought up to date in memory; undefined when nothing was yet. */
  async transcript(key: string, options: { topic?: string | number } = {}): Promise<Transcript | undefined> {
    return readTranscript(await this.transcriptPath(key, options))
  }

  async transcriptPath(key: string, options: { topic?: string | number } = {}): Promise<string> {
    const row = await this.#found(this.#own(key))
    return transcriptOf(this.parts.directory, row.entry, options.topic)
  }

  /** The one writer of the transcript, until it is disposed of; throws `transcript-in-use` when there is one already. */
  async writer(
    key: string,
    options: { topic?: string | number; cwd?: string; waitMs?: number } = {},
  ): Promise<TranscriptWriter> {
    const { cwd = this.parts.directory, topic, waitMs = 0 } = options
    const pathOf = ({ entry }: Row) => transcriptOf(this.parts.directory, entry, topic)
    const { row, lock } = await this.#locking(this.#own(key), (found) => lockTranscript(pathOf(found), waitMs))
    const { sessionId } = row.entry
    return TranscriptWriter.under(lock, pathOf(row), { sessionId, cwd, surroundings: this.parts.surroundings })
  }

  /** Appends one message, waiting up to 10 s for another writer to finish. */
  async append(
    key: string,
    message: Omit<TranscriptMessage, 'timestamp'> & { timestamp?: number },
    options: { topic?: string | number; cwd?: string } = {},
  ): Promise<TranscriptEntry> {
    using writer = await this.writer(key, { waitMs: 10_000, ...options })
    return await writer.append(message)
  }

  /** Records in the transcript what the gateway delivered. Refused where the send policy denies: nothing can have been. */
  async mirror(key: string, delivered: Delivered, options: { topic?: string | number } = {}): Promise<TranscriptEntry> {
    const message = mirrorMessage(delivered)
    if (!message)
      throw new SkeinError('bad-input', 'A delivery without text or media cannot be mirrored', 'Pass text or mediaUrls')
    const { decision } = await this.sendDecision(key)
    if (decision === 'deny')
      throw new SkeinError(
        'send-denied',
        `The send policy denies sending to ${key}; nothing was mirrored`,
        `See which rule: skein conversations policy test ${key}`,
      )
    return this.append(key, message, options)
  }

  /** Appends an entry of any type, waiting up to 10 s for another writer to finish. */
  async appendEntry(key: string, entry: { type: string; [field: string]: unknown }): Promise<TranscriptEntry> {
    using writer = await this.writer(key, { waitMs: 10_000 })
    return await writer.appendEntry(entry)
  }

  /** Writes a compaction: from now on `contextOf` gives the summary, the kept entries and what follows. */
  async compact(key: string, { summary, firstKept, tokensBefore = 0 }: Compaction): Promise<Row> {
    const own = this.#own(key)
    {
      using writer = await this.writer(own, { waitMs: 10_000 })
      const transcript = readTranscript(writer.path)
      if (!transcript || !branchTo(transcript).some(({ id }) => id === firstKept))
        throw new SkeinError(
          'bad-input',
          `${firstKept} is not an entry that ${own} continues from; nothing was compacted`,
          'Use the id of an entry in its transcript',
        )
      writer.appendEntry({ type: 'compaction', summary, firstKeptEntryId: firstKept, tokensBefore })
    }
    return this.#update(own, ({ compactionCount = 0 }) => ({ compactionCount: compactionCount + 1 }))
  }

  /** Records that the agent's memory was flushed now, and at which compaction. */
  async recordMemoryFlush(key: string): Promise<Row> {
    const memoryFlushAt = this.parts.surroundings.clock.now()
    return this.#update(this.#own(key), ({ compactionCount = 0 }) => ({
      memoryFlushAt,
      memoryFlushCompactionCount: compactionCount,
    }))
  }

  /** Binds an SDK session. Refused when the session belongs to another agent. */
  async bind(key: string, sdkSessionId: string, fingerprint: SdkFingerprint): Promise<Row> {
    return this.patch(key, bound(sdkSessionId, fingerprint))
  }

  async unbind(key: string): Promise<Row> {
    return this.patch(key, UNBOUND)
  }

  /** Whether a run under these conditions continues the bound session. The id must be ours: an entry can be edited by hand. */
  async resumption(key: string, run: SdkFingerprint): Promise<Resumption> {
    const { entry } = await this.#found(this.#own(key))
    const resumption = resumptionOf(entry, run)
    if (resumption.kind === 'resume') this.parts.claims.claim(resumption.sdkSessionId, this.agent)
    return resumption
  }

  /** Held while a turn runs; throws `conversation-busy` when one does. */
  async lockTurn(key: string): Promise<LockFile> {
    const { directory } = this.parts
    const { lock } = await this.#locking(this.#own(key), (row) => lockTurn(directory, row.entry.sessionId, row.key))
    return lock
  }

  /**
   * Takes a lock of the present session. While one waits for it, a reset may have begun another session: what is written
   * under the old lock would be seen by nobody, so the lock of the new one is taken instead.
   */
  async #locking(key: ConversationKey, take: (row: Row) => Promise<LockFile>): Promise<{ row: Row; lock: LockFile }> {
    for (;;) {
      const row = await this.#found(key)
      const lock = await take(row)
      try {
        const now = await this.#found(key)
        if (now.entry.sessionId === row.entry.sessionId) return { row, lock }
      } catch (error) {
        lock[Symbol.dispose]()
        throw error
      }
      lock[Symbol.dispose]()
    }
  }

  #own(key: string): ConversationKey {
    const parts = parseKey(key)
    if (parts.agent === this.agent) return parts.key
    throw new SkeinError(
      'foreign-conversation',
      `${parts.key} belongs to agent "${parts.agent}", not to "${this.agent}"`,
      `Open the store of "${parts.agent}" to work with it`,
    )
  }

  #checkPatch(patch: EntryPatch): void {
    if (patch.spawnedBy !== undefined) this.#own(patch.spawnedBy)
    if (patch.parentSessionKey !== undefined) this.#own(patch.parentSessionKey)
    this.#checkIds(patch)
  }

  #checkIds(patch: EntryPatch): void {
    if (patch.sessionId !== undefined) parseSessionId(patch.sessionId)
    for (const id of [patch.sdkSessionId, patch.claudeCliSessionId, ...Object.values(patch.cliSessionIds ?? {})]) {
      if (id !== undefined) this.parts.claims.claim(id, this.agent)
    }
  }

  async #found(key: ConversationKey): Promise<Row> {
    const row = await this.parts.rows.get(key)
    if (!row) throw notFound(key)
    return row
  }

  async #change(
    key: ConversationKey,
    expected: Revision | 'absent' | undefined,
    decide: (current: Row | undefined) => SessionEntry,
  ) {
    const [row] = await this.parts.rows.change([{ key, decide, ...(expected === undefined ? {} : { expected }) }])
    if (!row) throw new Error(`${key} is gone right after it was written`)
    return row
  }

  /** A change that depends on what the entry says now. */
  #update(key: ConversationKey, patchFor: (entry: SessionEntry) => EntryPatch): Promise<Row> {
    return this.#change(key, undefined, (current) => {
      if (!current) throw notFound(key)
      return this.#merged(current.entry, patchFor(current.entry))
    })
  }

  #merged(current: SessionEntry | undefined, patch: EntryPatch): SessionEntry {
    const { clock, random } = this.parts.surroundings
    return mergeEntry(current, withRoute(current, patch), clock.now(), random.uuid)
  }

  #fresh(key: ConversationKey, patch: EntryPatch): SessionEntry {
    const entry = this.#merged(undefined, patch)
    return {
      ...entry,
      sessionStartedAt: entry.updatedAt,
      ...threadTranscript(key, entry.sessionId, this.parts.directory),
    }
  }
}

const notFound = (key: ConversationKey): SkeinError =>
  new SkeinError('conversation-not-found', `There is no conversation ${key}`, 'Try: skein conversations list')
