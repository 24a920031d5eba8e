import { SkeinError } from '../model/index.js'
import { type AgentSdk, loadAgentSdk, runQuery, type SdkOptions, type SdkRun, type SdkUsage } from './agent-sdk.js'
import { bound, fingerprintOf, type Resumption } from './binding.js'
import type { Conversations } from './conversations.js'
import type { SdkFingerprint } from './entry.js'
import type { Inbound } from './inbound.js'
import type { Row } from './rows.js'

export interface TurnRequest {
  conversations: Conversations
  key: string
  prompt: string
  /** What else is known about the message: who, where. */
  inbound?: Omit<Inbound, 'text'>
  /** For the SDK's `query()`. The working directory is needed: a session belongs to one. */
  options: SdkOptions
  /** The SDK, for those who have it loaded; otherwise it is imported by name. */
  sdk?: AgentSdk
  /** Every message of the SDK as it comes, for streaming. */
  onMessage?: (message: unknown) => void
  signal?: AbortSignal
}

export type TurnResult =
  | {
      kind: 'replied'
      text: string
      sdkSessionId: string
      /** `created`: the first turn. `resumed`: the conversation went on. `restarted`: it could not, and began anew. */
      start: 'created' | 'resumed' | 'restarted'
      /** Tell this to the user: the agent has forgotten what was said, and why. */
      notice?: string
      usage: SdkUsage
      row: Row
    }
  /** The message was only `/new` or `/reset`: there is nothing to answer. */
  | { kind: 'reset'; notice: string; row: Row }

/**
 * One turn of a conversation with the Claude Agent SDK: resumes the bound session or starts one, and keeps the binding,
 * the usage and the transcript up to date. The id is stored as soon as the SDK says it, so a crash during the reply
 * does not lose the session.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { conversations, key, options } = request
  const received = await conversations.receive(key, { ...request.inbound, text: request.prompt })
  const prompt = received.text
  if (prompt === '' && received.reset) {
    return { kind: 'reset', notice: 'A new session begins with your next message.', row: received.row }
  }
  const sdk = request.sdk ?? (await loadAgentSdk())
  using _turn = await conversations.lockTurn(key)
  const fingerprint = fingerprintOf(options)
  const resumption = await conversations.resumption(key, fingerprint)
  await conversations.append(key, { role: 'user', content: [{ type: 'text', text: prompt }] }, { cwd: options.cwd })

  using abort = abortedBy(request.signal)
  const run = (resume: string | undefined): Promise<SdkRun> =>
    runQuery(
      sdk,
      {
        prompt,
        options: { ...options, abortController: abort.controller, ...(resume === undefined ? {} : { resume }) },
      },
      {
        onSession: (id) => rebind(conversations, key, id, fingerprint),
        ...(request.onMessage ? { onMessage: request.onMessage } : {}),
      },
    )

  let notice = noticeOf(resumption)
  let ran = await run(resumption.kind === 'resume' ? resumption.sdkSessionId : undefined)
  if (ran.kind === 'no-conversation' && resumption.kind === 'resume') {
    await conversations.unbind(key)
    notice = `The earlier session ${resumption.sdkSessionId} no longer exists; a new one was started.`
    ran = await run(undefined)
  }
  if (ran.kind !== 'replied') throw turnFailed(key, ran)
  const row = await keepReply(conversations, key, ran, options.cwd)
  const start = notice ? 'restarted' : resumption.kind === 'resume' ? 'resumed' : 'created'
  const { text, sdkSessionId, usage } = ran
  return { kind: 'replied', text, sdkSessionId, start, usage, row, ...(notice ? { notice } : {}) }
}

const noticeOf = (resumption: Resumption): string | undefined =>
  resumption.kind === 'start-anew' ? `A new session was started: ${resumption.because}.` : undefined

async function rebind(
  conversations: Conversations,
  key: string,
  id: string,
  fingerprint: SdkFingerprint,
): Promise<void> {
  const current = await conversations.get(key)
  const isNew = current?.entry.sdkSessionId !== id
  if (isNew || !current?.entry.sdkFingerprint) {
    // A new session has cost nothing yet, and has read nothing.
    const fresh = isNew ? { estimatedCostUsd: undefined, contextTokens: undefined } : {}
    await conversations.patch(key, { ...bound(id, fingerprint), ...fresh })
  }
}

async function keepReply(
  conversations: Conversations,
  key: string,
  ran: Extract<SdkRun, { kind: 'replied' }>,
  cwd: string,
): Promise<Row> {
  const { input, output, cacheRead, cacheWrite } = ran.usage
  const totalTokens = input + output + cacheRead + cacheWrite
  const before = (await conversations.get(key))?.entry
  // The SDK counts the cost of a session, not of a turn.
  const total = Math.max(0, (ran.totalCostUsd ?? 0) - (before?.estimatedCostUsd ?? 0))
  await conversations.append(
    key,
    {
      role: 'assistant',
      content: [{ type: 'text', text: ran.text }],
      api: 'anthropic-messages',
      provider: 'anthropic',
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
  })
}

/** The SDK wants a controller of its own; it follows the caller's signal while the turn runs. */
function abortedBy(signal: AbortSignal | undefined): Disposable & { controller: AbortController } {
  const controller = new AbortController()
  const follow = () => controller.abort(signal?.reason)
  if (signal?.aborted) follow()
  signal?.addEventListener('abort', follow, { once: true })
  return { controller, [Symbol.dispose]: () => signal?.removeEventListener('abort', follow) }
}

function turnFailed(key: string, ran: Exclude<SdkRun, { kind: 'replied' }>): SkeinError {
  const because = ran.kind === 'failed' ? ran.because : 'the SDK found no conversation to start'
  return new SkeinError(
    'turn-failed',
    `The turn of ${key} failed: ${because}`,
    'Nothing is lost: send the message again',
    {
      cause: ran.kind === 'failed' ? ran.cause : undefined,
    },
  )
}
