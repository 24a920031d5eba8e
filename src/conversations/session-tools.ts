import { SkeinError } from '../model/index.js'
import type { Conversations } from './conversations.js'
import { type ConversationKey, parseKey } from './key.js'
import type { Row, RowFilter } from './rows/rows.js'
import type { SendPolicyConfig } from './send-policy.js'
import type { SpawnOptions } from './subagent.js'
import { contextOf } from './transcript/transcript-context.js'
import { textOf } from './transcript/transcript-format.js'

/** What an agent may know about another conversation of its own. */
export interface SessionSummary {
  key: ConversationKey
  kind: string
  label?: string
  channel?: string
  spawnedBy?: string
  updatedAt: number
}

export interface SessionMessage {
  role: string
  text: string
  /** ms */
  timestamp: number
}

export interface SessionToolsOptions {
  conversations: Conversations
  /** The conversation whose agent calls the tools. */
  caller: string
  /** Whether a message may be sent; the store's policy unless given. */
  policy?: SendPolicyConfig
  /**
   * Runs a turn in the conversation and returns the reply. Without it, a message waits in the transcript for the next turn.
   */
  run?: (key: ConversationKey, prompt: string, from: ConversationKey) => Promise<{ text: string }>
}

/** How many messages `history` gives at most, so that a long conversation does not fill a context. */
const MOST_MESSAGES = 200

/**
 * What an agent can do with conversations, bound to the one it is called from. It sees those of its own agent; a subagent
 * sees itself, the conversation that spawned it and those that it spawned. Everything else is refused.
 */
export class SessionTools {
  readonly #caller: ConversationKey

  constructor(private readonly options: SessionToolsOptions) {
    const { key, agent } = parseKey(options.caller)
    if (agent !== options.conversations.agent) throw outOfReach(key, options.caller)
    this.#caller = key
  }

  /** Newest first. */
  async list(filter: RowFilter = {}): Promise<SessionSummary[]> {
    const { limit, ...wanted } = filter
    const isReached = await this.#reach()
    const rows = (await this.options.conversations.list(wanted)).filter(isReached)
    return rows.slice(0, limit).map(summaryOf)
  }

  /** What was said last, oldest first: what still counts after a compaction, with the summary as its first message. */
  async history(key: string, { limit = 50 }: { limit?: number } = {}): Promise<SessionMessage[]> {
    const row = await this.#reached(key)
    const transcript = await this.options.conversations.transcript(row.key)
    if (!transcript) return []
    const { summary, entries } = contextOf(transcript)
    const began = Date.parse(transcript.header.timestamp) || 0
    const messages = entries.flatMap(({ message }) =>
      message ? [{ role: message.role, text: textOf(message), timestamp: message.timestamp }] : [],
    )
    const all = summary === undefined ? messages : [{ role: 'summary', text: summary, timestamp: began }, ...messages]
    return all.slice(-Math.max(1, Math.min(limit, MOST_MESSAGES)))
  }

  /** Sends a message into another conversation, as from the caller. Refused where the send policy denies. */
  async send(key: string, text: string): Promise<{ key: ConversationKey; reply?: string }> {
    const row = await this.#reached(key)
    if (row.key === this.#caller)
      throw new SkeinError('bad-input', 'A conversation cannot send to itself', 'Name another one: see list')
    if (text.trim() === '') throw new SkeinError('bad-input', 'The message is empty', 'Pass some text')
    await this.#mayReceive(row)
    return this.#prompt(row.key, text)
  }

  /** Starts a subagent's conversation below the caller, within the store's limits, with its task as the first message. */
  async spawn(options: SpawnOptions & { prompt?: string } = {}): Promise<{ session: SessionSummary; reply?: string }> {
    const { prompt, ...named } = options
    const row = await this.options.conversations.spawn(this.#caller, named)
    const { reply } = prompt === undefined ? { reply: undefined } : await this.#prompt(row.key, prompt)
    return { session: summaryOf(row), ...(reply === undefined ? {} : { reply }) }
  }

  async #prompt(key: ConversationKey, text: string): Promise<{ key: ConversationKey; reply?: string }> {
    const { conversations, run } = this.options
    if (run) return { key, reply: (await run(key, text, this.#caller)).text }
    await conversations.append(key, { role: 'user', content: [{ type: 'text', text }], from: this.#caller })
    return { key }
  }

  async #mayReceive({ key }: Row): Promise<void> {
    const { conversations, policy } = this.options
    const { decision } = await conversations.sendDecision(key, policy ? { policy } : {})
    if (decision === 'allow') return
    throw new SkeinError(
      'send-denied',
      `The send policy denies sending to ${key}; nothing was sent`,
      `See which rule: skein conversations policy test ${key}`,
    )
  }

  /** The same refusal for what does not exist and for what is out of reach: an agent learns nothing about either. */
  async #reached(key: string): Promise<Row> {
    const row = await this.options.conversations.get(key)
    const isReached = await this.#reach()
    if (!row || !isReached(row)) throw outOfReach(key, this.#caller)
    return row
  }

  /** Looked up each time: the caller may have been removed, or respawned by another, since the last call. */
  async #reach(): Promise<(row: Row) => boolean> {
    const caller = await this.options.conversations.get(this.#caller)
    if (!caller) throw outOfReach(this.#caller, this.#caller)
    if (parseKey(this.#caller).kind !== 'subagent') return () => true
    const { spawnedBy } = caller.entry
    return ({ key, entry }) => key === this.#caller || key === spawnedBy || entry.spawnedBy === this.#caller
  }
}

function summaryOf({ key, entry }: Row): SessionSummary {
  const { label, channel, spawnedBy, updatedAt } = entry
  return {
    key,
    kind: parseKey(key).kind,
    ...(label === undefined ? {} : { label }),
    ...(channel === undefined ? {} : { channel }),
    ...(spawnedBy === undefined ? {} : { spawnedBy }),
    updatedAt,
  }
}

const outOfReach = (key: string, caller: string): SkeinError =>
  new SkeinError('foreign-conversation', `${key} is not open to ${caller}`, 'Name a conversation that list shows')
