import { type Instant, instantOf, isSessionId, type SessionId, totalTokens } from '../../model/index.js'
import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip, clipResult } from '../log/clip.js'
import type { TranslatorSetup } from '../log/jsonl-log.js'
import { momentAt } from '../log/moment.js'
import { joinText, textOf, toolResults } from './claude-prompt.js'
import { SYNTHETIC, usageOf } from './claude-usage.js'

const MOST_TASKS = 16
/** A call without a time is shown in 1970: an odd date is found sooner than a missing call. */
const NO_TIME = instantOf(0)
const TASK_PROMPT = 500

/** Where in the conversation a line stands. */
export interface Place {
  agent?: string | undefined
  turn: number
  at: Instant | undefined
}

export interface SavedReplies {
  lastCall?: { id: string; total: number } | undefined
  tasks: { call: string; prompt: string }[]
  requestedAt?: Instant | undefined
}

/** What the model said, called and cost, and what its tools answered. */
export class ClaudeReplies {
  /** One reply is many lines with the same usage; it is reported once, and again only when it has grown. */
  #lastCall: SavedReplies['lastCall']
  /** Sub-agent calls without a result: where inline sub-agents (1.0.x) belong to. */
  #tasks: SavedReplies['tasks']
  /** When the log's first request was made: what `--fork-session` copies is older, and has no requests. */
  #requestedAt: SavedReplies['requestedAt']

  constructor(
    private readonly setup: TranslatorSetup,
    saved: SavedReplies | undefined,
  ) {
    this.#lastCall = saved?.lastCall
    this.#tasks = saved?.tasks ?? []
    this.#requestedAt = saved?.requestedAt
  }

  save(): SavedReplies {
    return { lastCall: this.#lastCall, tasks: this.#tasks, requestedAt: this.#requestedAt }
  }

  /** A line of type `api-request`. */
  acceptRequest(at: Instant | undefined): void {
    this.#requestedAt ??= at
  }

  /** A line of type `assistant`. */
  accept(record: JsonObject, place: Place, session: SessionId): void {
    const message = objectAt(record, 'message')
    if (record.isApiErrorMessage === true) {
      const detail = textOf(message?.content) || (textAt(record, 'error') ?? '')
      this.setup.tell({ kind: 'mark', ...place, mark: 'failed', detail: clip(detail, CLIP.result) })
      this.#tellUsage(record, place, session) // one that failed half-way was paid for
      return
    }
    if (message?.model !== SYNTHETIC) this.#tellBlocks(record, place)
    this.#tellUsage(record, place, session)
    const stop = textAt(message, 'stop_reason')
    if (!stop || stop === 'tool_use' || stop === 'pause_turn') return
    this.setup.tell({ kind: 'mark', agent: place.agent, turn: place.turn, at: place.at, mark: 'completed' })
  }

  /** A line of type `progress`: some versions repeat the replies of a sub-agent in the log of the session that started it. */
  acceptProgress(record: JsonObject, place: Place, session: SessionId): void {
    const reply = objectAt(objectAt(record, 'data'), 'message')
    if (reply?.type === 'assistant')
      this.#tellUsage(reply, { ...place, at: momentAt(reply, 'timestamp') ?? place.at }, session)
  }

  /** The results in a line of type `user`. */
  acceptResults(record: JsonObject, place: Place): void {
    for (const block of toolResults(record)) {
      const call = textAt(block, 'tool_use_id')
      if (!call) continue
      const text = typeof block.content === 'string' ? block.content : joinText(listAt(block, 'content'))
      const details = objectAt(record, 'toolUseResult')
      this.setup.tell({
        kind: 'tool-result',
        agent: place.agent,
        turn: place.turn,
        at: place.at,
        call,
        result: clipResult(text, this.setup.options),
        success: block.is_error !== true,
        duration_ms: numberAt(details, 'totalDurationMs') ?? numberAt(details, 'durationMs'),
        agent_started: textAt(details, 'agentId'),
      })
      if (this.#tasks.length > 0) this.#tasks = this.#tasks.filter((task) => task.call !== call)
    }
  }

  /** The open call that gave a sub-agent this prompt. */
  callWithPrompt(prompt: string): string | undefined {
    return this.#tasks.findLast((task) => task.prompt === prompt.slice(0, TASK_PROMPT))?.call
  }

  #tellBlocks(record: JsonObject, place: Place): void {
    const message = objectAt(record, 'message')
    const uuid = textAt(record, 'uuid') ?? ''
    const { agent, turn, at } = place
    const blocks = listAt(message, 'content')
    for (let index = 0; index < blocks.length; index += 1) {
      const block = blocks[index]
      if (!isObject(block)) continue
      const text = block.type === 'text' ? textAt(block, 'text') : undefined
      if (text) {
        this.setup.tell({
          kind: 'said',
          agent,
          turn,
          at,
          message: textAt(message, 'id') ?? uuid,
          part: `${uuid}/${index}`,
          text: clip(text, CLIP.reply),
        })
      }
      if (block.type === 'tool_use' || block.type === 'server_tool_use') this.#tellCall(block, place)
    }
  }

  #tellCall(block: JsonObject, place: Place): void {
    const call = textAt(block, 'id')
    const name = textAt(block, 'name')
    if (!call || !name) return
    const input = objectAt(block, 'input')
    const { agent, turn, at } = place
    this.setup.tell({ kind: 'tool-call', agent, turn, at, call, name, arguments: argumentsOf(input) })
    const prompt = name === 'Task' || name === 'Agent' ? textAt(input, 'prompt') : undefined
    if (prompt) this.#tasks = [...this.#tasks.slice(1 - MOST_TASKS), { call, prompt: prompt.slice(0, TASK_PROMPT) }]
  }

  #tellUsage(record: JsonObject, place: Place, session: SessionId): void {
    const usage = usageOf(record, session, place.at ?? NO_TIME)
    if (!usage) return
    const total = totalTokens(usage)
    if (this.#lastCall?.id === usage.message_id && total <= this.#lastCall.total) return
    this.#lastCall = { id: usage.message_id, total }
    const { agent, turn, at } = place
    const origin = objectAt(record, 'forkedFrom')?.sessionId
    const copied_from = isSessionId(origin) ? origin : undefined
    const copied = isObject(record.forkedFrom) || undefined
    const isMade = !copied && this.#requestedAt !== undefined && usage.ts >= this.#requestedAt
    const made = isMade || undefined
    this.setup.tell({ kind: 'usage', agent, turn, at, usage, copied, copied_from, made })
  }
}
