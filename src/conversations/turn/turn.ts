import { SkeinError } from '../../model/index.js'
import type { Conversations } from '../conversations.js'
import { type DeliveryContext, deliveryOf } from '../delivery.js'
import type { Inbound } from '../inbound.js'
import type { Row } from '../rows/rows.js'
import type { SendAnswer, SendDecision, SendPolicyConfig } from '../send-policy.js'
import {
  type AgentSdk,
  loadAgentSdk,
  runQuery,
  type SdkCompaction,
  type SdkOptions,
  type SdkRun,
  type SdkUsage,
} from './agent-sdk.js'
import { fingerprintOf, type Resumption } from './binding.js'
import { optionsFor } from './turn-options.js'
import { promptBlocks, promptText, sdkPrompt, type TurnPrompt } from './turn-prompt.js'
import { TurnRecord } from './turn-record.js'

export interface TurnRequest {
  conversations: Conversations
  key: string
  prompt: TurnPrompt
  /** What else is known about the message: who, where. */
  inbound?: Omit<Inbound, 'text'>
  /** For the SDK's `query()`. The working directory is needed: a session belongs to one. */
  options: SdkOptions
  /** The SDK, for those who have it loaded; otherwise it is imported by name. */
  sdk?: AgentSdk
  /** Whether replies may be sent; the store's policy unless given. */
  policy?: SendPolicyConfig
  /** Sends the reply to the chat. Called only when the policy allows it. */
  deliver?: (reply: { text: string; notice?: string; to?: DeliveryContext }) => Promise<void>
  /** Every message of the SDK as it comes, for streaming to the chat: none when the policy denies. */
  onMessage?: (message: unknown) => void
  signal?: AbortSignal
}

/** Whether the reply may be sent, and what decided. */
interface Sending {
  send: SendDecision
  sendDecidedBy: SendAnswer['by']
}

export type TurnResult =
  | ({
      kind: 'replied'
      text: string
      sdkSessionId: string
      /** `created`: the first turn. `resumed`: the conversation continued. `restarted`: it could not, and started over. */
      start: 'created' | 'resumed' | 'restarted'
      /** For the user: the agent has forgotten what was said, and why. */
      notice?: string
      /** What became of the reply, where `deliver` was given. A reply that was not delivered is in the transcript all the same. */
      delivery?: { kind: 'delivered' | 'denied' } | { kind: 'failed'; because: string; cause: unknown }
      usage: SdkUsage
      row: Row
    } & Sending)
  /** The message was only `/new` or `/reset`: there is nothing to answer. */
  | ({ kind: 'reset'; notice: string; row: Row } & Sending)

/**
 * One turn of a conversation with the Claude Agent SDK: resumes the bound session or starts one, and keeps the binding,
 * the usage and the transcript up to date. A turn that fails or is aborted leaves an entry that says so.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { conversations, key } = request
  const inbound = { ...request.inbound, text: promptText(request.prompt) }
  const received = await conversations.receive(key, inbound)
  const blocks = promptBlocks(request.prompt, received.text)
  const sending = await sendingOf(request)
  if (blocks.length === 0 && received.reset) {
    return { kind: 'reset', notice: 'A new session begins with your next message.', row: received.row, ...sending }
  }
  const sdk = request.sdk ?? (await loadAgentSdk())
  using _turn = await conversations.lockTurn(key)
  const options = optionsFor((await conversations.get(key))?.entry ?? received.row.entry, request.options)
  const record = new TurnRecord(conversations, key, options.cwd)
  await record.begin(blocks, received.row.entry.updatedAt)
  using abort = abortedBy(request.signal)
  const hear = sending.send === 'allow' && request.onMessage ? { onMessage: request.onMessage } : {}
  const asked = { sdk, options: { ...options, abortController: abort.controller }, prompt: sdkPrompt(blocks), hear }
  const { run, start, notice, row } = await recorded(record, request.signal, () =>
    ask(conversations, key, asked, record),
  )
  const { text, sdkSessionId, usage } = run
  const told = notice === undefined ? {} : { notice }
  const delivered = await deliver(request, { text, ...told }, row, sending)
  return { kind: 'replied', text, sdkSessionId, start, usage, row, ...told, ...delivered }
}

/** Asks, and records the reply, or that there was none. */
async function recorded(record: TurnRecord, signal: AbortSignal | undefined, asking: () => ReturnType<typeof ask>) {
  try {
    const answer = await asking()
    return { ...answer, row: await record.reply(answer.run) }
  } catch (error) {
    const stopReason = signal?.aborted === true ? 'aborted' : 'error'
    // What cannot be written now (a full disk) is found by the next turn: `turnStartedAt` is still there.
    await record.fail(stopReason, (error as Error).message).catch(() => undefined)
    throw error
  }
}

interface Asked {
  sdk: AgentSdk
  options: SdkOptions
  /** Makes the prompt: a stream can be read only once, and a session that is gone needs a second run. */
  prompt: ReturnType<typeof sdkPrompt>
  hear: { onMessage?: (message: unknown) => void }
}

/** Asks the bound session, or a new one when there is none that fits. */
async function ask(
  conversations: Conversations,
  key: string,
  { sdk, options, prompt, hear }: Asked,
  record: TurnRecord,
) {
  const fingerprint = fingerprintOf(options)
  const resumption = await conversations.resumption(key, fingerprint)
  const compactions: SdkCompaction[] = []
  const query = (resume: string | undefined): Promise<SdkRun> =>
    runQuery(
      sdk,
      { prompt: prompt(), options: { ...options, ...(resume === undefined ? {} : { resume }) } },
      {
        onSession: (id) => record.bind(id, fingerprint),
        onCompaction: (compaction) => compactions.push(compaction),
        ...hear,
      },
    )
  let notice = noticeOf(resumption)
  let run = await query(resumption.kind === 'resume' ? resumption.sdkSessionId : undefined)
  if (run.kind === 'no-conversation' && resumption.kind === 'resume') {
    await conversations.unbind(key)
    notice = `The earlier session ${resumption.sdkSessionId} no longer exists; a new one was started.`
    run = await query(undefined)
  }
  await record.compactions(compactions) // also of a turn that fails afterwards: the session is compacted all the same
  if (run.kind !== 'replied') throw turnFailed(key, run)
  const start = notice ? 'restarted' : resumption.kind === 'resume' ? 'resumed' : 'created'
  return { run, start, notice } as const
}

const noticeOf = (resumption: Resumption): string | undefined =>
  resumption.kind === 'start-anew' ? `A new session was started: ${resumption.because}.` : undefined

async function sendingOf({ conversations, key, policy }: TurnRequest): Promise<Sending> {
  const { decision, by } = await conversations.sendDecision(key, policy ? { policy } : {})
  return { send: decision, sendDecidedBy: by }
}

/** The policy counts as it is when the reply is there, and as it was before: a turn may last long, and a denial wins. */
async function deliver(
  request: TurnRequest,
  reply: { text: string; notice?: string },
  row: Row,
  before: Sending,
): Promise<Sending & Pick<Extract<TurnResult, { kind: 'replied' }>, 'delivery'>> {
  const sending = before.send === 'deny' ? before : await sendingOf(request)
  if (!request.deliver) return sending
  if (sending.send === 'deny') return { ...sending, delivery: { kind: 'denied' } }
  const to = deliveryOf(row.entry)
  try {
    await request.deliver({ ...reply, ...(to ? { to } : {}) })
    return { ...sending, delivery: { kind: 'delivered' } }
  } catch (cause) {
    return { ...sending, delivery: { kind: 'failed', because: (cause as Error).message, cause } }
  }
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
