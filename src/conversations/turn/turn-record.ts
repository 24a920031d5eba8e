import type { Conversations } from '../conversations.js'
import type { SdkFingerprint } from '../entry.js'
import type { Row } from '../rows/rows.js'
import type { ContentBlock } from '../transcript/transcript-format.js'
import { NO_USAGE, type TranscriptEntry } from '../transcript/transcript-format.js'
import type { SdkCompaction, SdkRun } from './agent-sdk.js'
import { bound } from './binding.js'

/** What one turn leaves in the entry and the transcript of its conversation, whichever way it ends. */
export class TurnRecord {
  #prompt: TranscriptEntry | undefined

  constructor(
    private readonly conversations: Conversations,
    private readonly key: string,
    private readonly cwd: string,
  ) {}

  /** Records the prompt. `turnStartedAt` stays until the turn ends: the next turn finds there that this one was cut off. */
  async begin(content: ContentBlock[], nowMs: number): Promise<void> {
    const { conversations, key, cwd } = this
    const before = await conversations.get(key)
    if (before?.entry.turnStartedAt !== undefined) await this.fail('aborted', 'the program ended during the turn')
    await conversations.patch(key, { turnStartedAt: nowMs })
    this.#prompt = await conversations.append(key, { role: 'user', content }, { cwd })
  }

  /** Binds the session as soon as its id is known, so that a crash during the reply does not lose it. */
  async bind(id: string, fingerprint: SdkFingerprint): Promise<void> {
    const current = await this.conversations.get(this.key)
    const isNew = current?.entry.sdkSessionId !== id
    if (!isNew && current?.entry.sdkFingerprint) return
    // A new session has cost nothing yet, and has read nothing.
    const fresh = isNew ? { estimatedCostUsd: undefined, contextTokens: undefined } : {}
    await this.conversations.patch(this.key, { ...bound(id, fingerprint), ...fresh })
  }

  async compactions(found: readonly SdkCompaction[]): Promise<void> {
    const firstKept = this.#prompt?.id
    if (firstKept === undefined) return
    for (const { summary, tokensBefore } of found)
      await this.conversations.compact(this.key, { summary, firstKept, tokensBefore })
  }

  async reply(ran: Extract<SdkRun, { kind: 'replied' }>): Promise<Row> {
    const { conversations, key, cwd } = this
    const { input, output, cacheRead, cacheWrite } = ran.usage
    const totalTokens = input + output + cacheRead + cacheWrite
    const before = (await conversations.get(key))?.entry
    // The SDK counts the cost of a session, not of a turn.
    const total = Math.max(0, (ran.totalCostUsd ?? 0) - (before?.estimatedCostUsd ?? 0))
    await conversations.append(
      key,
      {
        ...FROM_THE_MODEL,
        content: [{ type: 'text', text: ran.text }],
        ...(ran.model === undefined ? {} : { model: ran.model }),
        usage: { ...ran.usage, totalTokens, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total } },
        stopReason: 'stop',
      },
      { cwd },
    )
    const inputTokens = (before?.inputTokens ?? 0) + input + cacheRead + cacheWrite
    const outputTokens = (before?.outputTokens ?? 0) + output
    return conversations.patch(key, {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      contextTokens: totalTokens,
      modelProvider: 'anthropic',
      ...(ran.model === undefined ? {} : { model: ran.model }),
      ...(ran.totalCostUsd === undefined ? {} : { estimatedCostUsd: ran.totalCostUsd }),
      systemSent: true,
      abortedLastRun: false,
      turnStartedAt: undefined,
    })
  }

  /** Says in the transcript that there was no reply and why, in pi's form, and in the entry that the last run broke off. */
  async fail(stopReason: 'aborted' | 'error', errorMessage: string): Promise<void> {
    const { conversations, key, cwd } = this
    await conversations.append(
      key,
      { ...FROM_THE_MODEL, content: [], usage: NO_USAGE, stopReason, errorMessage },
      { cwd },
    )
    await conversations.patch(key, { abortedLastRun: true, turnStartedAt: undefined })
  }
}

const FROM_THE_MODEL = { role: 'assistant', api: 'anthropic-messages', provider: 'anthropic' }
