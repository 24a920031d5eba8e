import { z } from 'zod'
import { SkeinError } from '../../model/index.js'

/** The options of the SDK's `query()` that matter here; every other one is passed through. */
export interface SdkOptions {
  cwd: string
  model?: string
  mcpServers?: Record<string, unknown>
  [option: string]: unknown
}

/** Text, or a stream of the SDK's user messages. */
export type SdkPrompt = string | AsyncIterable<unknown>

/** The part of `@anthropic-ai/claude-agent-sdk` that is used. The package is an optional peer: whoever runs turns installs it. */
export interface AgentSdk {
  query(request: { prompt: SdkPrompt; options: Record<string, unknown> }): AsyncIterable<unknown>
}

const PACKAGE: string = '@anthropic-ai/claude-agent-sdk'

export async function loadAgentSdk(): Promise<AgentSdk> {
  try {
    return (await import(PACKAGE)) as AgentSdk
  } catch (cause) {
    throw new SkeinError(
      'sdk-missing',
      `${PACKAGE} is not installed`,
      `Install it beside Skein (npm install ${PACKAGE}), or pass the module as "sdk"`,
      { cause },
    )
  }
}

const Usage = z.looseObject({
  input_tokens: z.number().default(0),
  output_tokens: z.number().default(0),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
})
const Init = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: z.string(),
  model: z.string().optional(),
})
const CompactBoundary = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('compact_boundary'),
  compact_metadata: z.looseObject({ pre_tokens: z.number().catch(0) }).catch({ pre_tokens: 0 }),
})
/** The first user message after a boundary holds the summary. */
const Summary = z.looseObject({ type: z.literal('user'), message: z.looseObject({ content: z.string() }) })
const Result = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  session_id: z.string(),
  is_error: z.boolean().default(false),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  usage: Usage.optional(),
  total_cost_usd: z.number().optional(),
})

export interface SdkUsage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** The SDK replaced the beginning of its session with a summary. */
export interface SdkCompaction {
  summary: string
  tokensBefore: number
}

export type SdkRun =
  | { kind: 'replied'; sdkSessionId: string; text: string; model?: string; usage: SdkUsage; totalCostUsd?: number }
  /** The session that was to be resumed does not exist: deleted, cleaned up after a month, or of another machine. */
  | { kind: 'no-conversation' }
  | { kind: 'failed'; because: string; cause?: unknown }

/** Runs one query to its end. `onSession` gets the session id as soon as it is known, long before the reply. */
export async function runQuery(
  sdk: AgentSdk,
  request: { prompt: SdkPrompt; options: Record<string, unknown> },
  hear: {
    onSession(id: string): Promise<void>
    onCompaction(compaction: SdkCompaction): void
    onMessage?(message: unknown): void
  },
): Promise<SdkRun> {
  let model: string | undefined
  let result: z.infer<typeof Result> | undefined
  const readCompaction = compactionReader(hear.onCompaction)
  try {
    for await (const message of sdk.query(request)) {
      hear.onMessage?.(message)
      const init = Init.safeParse(message)
      if (init.success) {
        model = init.data.model
        await hear.onSession(init.data.session_id)
      }
      readCompaction(message)
      const end = Result.safeParse(message)
      if (end.success) result = end.data
    }
  } catch (cause) {
    if (isSkeinError(cause)) throw cause // from onSession: ours, not the SDK's
    // After a failed result the SDK throws too, with less in its message.
    const because = [...(result?.errors ?? []), (cause as Error).message].join('; ')
    return isMissing(because) ? { kind: 'no-conversation' } : { kind: 'failed', because, cause }
  }
  readCompaction(undefined)
  if (!result) return { kind: 'failed', because: 'the SDK ended without a result' }
  if (result.subtype !== 'success' || result.is_error) {
    const because = [...(result.errors ?? []), result.result ?? result.subtype].join('; ')
    return isMissing(because) ? { kind: 'no-conversation' } : { kind: 'failed', because }
  }
  const usage = result.usage
  return {
    kind: 'replied',
    sdkSessionId: result.session_id,
    text: result.result ?? '',
    ...(model === undefined ? {} : { model }),
    usage: {
      input: usage?.input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
      cacheRead: usage?.cache_read_input_tokens ?? 0,
      cacheWrite: usage?.cache_creation_input_tokens ?? 0,
    },
    ...(result.total_cost_usd === undefined ? {} : { totalCostUsd: result.total_cost_usd }),
  }
}

const isMissing = (text: string): boolean => /no conversation found/i.test(text)
const isSkeinError = (error: unknown): error is SkeinError => error instanceof SkeinError

/** Joins a boundary with the summary behind it. `undefined` ends the stream: a boundary without a summary still counts. */
function compactionReader(found: (compaction: SdkCompaction) => void): (message: unknown) => void {
  let pending: number | undefined
  const finish = (summary: string) => {
    if (pending !== undefined) found({ summary, tokensBefore: pending })
    pending = undefined
  }
  return (message) => {
    const boundary = CompactBoundary.safeParse(message)
    const summary = Summary.safeParse(message)
    if (message === undefined || boundary.success) finish('')
    if (boundary.success) pending = boundary.data.compact_metadata.pre_tokens
    else if (summary.success) finish(summary.data.message.content)
  }
}
