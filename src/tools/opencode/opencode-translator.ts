import { type Instant, isSessionId, type SessionId, totalTokens, type UsageCall } from '../../model/index.js'
import { countAt, isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip, clipResult } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentOfMsAt } from '../log/moment.js'
import { copiedBefore, isFromBefore, SessionReporter } from '../log/session-news.js'
import { LostPlace, MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'

const QUIET_PARTS = new Set('reasoning step-start step-finish snapshot patch file agent retry subtask'.split(' '))

const MOST_WORDLESS = 16

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  reverted?: string | undefined
  wordless?: string[]
}

/** opencode's sessions, from its database or from `opencode export`: `{session}` once, then `{message, parts}` in order of creation. */
export class OpencodeTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  /** The user took back this message and all after it. */
  #reverted: string | undefined
  /** The newest prompts that had no words when they were read: a message is written before its parts, and may be read in between. */
  #wordless: string[]

  constructor(private readonly setup: TranslatorSetup) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? setup.log.session ?? idFromName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#reverted = saved?.reverted
    this.#wordless = saved?.wordless ?? []
  }

  accept(record: JsonObject): void {
    const session = objectAt(record, 'session')
    if (session) this.#acceptSession(session)
    const message = objectAt(record, 'message')
    if (!message) return
    const parts = listAt(record, 'parts').filter(isObject)
    if (message.role === 'user') this.#acceptPrompt(message, parts)
    else if (message.role === 'assistant') this.#acceptReply(message, parts)
    else countUnknown(this.setup.counters, `message/${String(message.role)}`)
  }

  finish(): void {
    this.#news.reportFirst({ id: this.#session })
  }

  head(): Checkpoint['head'] {
    const first = this.#reverted === undefined ? undefined : this.#tracker.turnOf(MAIN, this.#reverted)
    const turns = this.#tracker.turns(MAIN)
    if (!first) return { turn: turns, abandoned: [] }
    return { turn: first - 1, abandoned: Array.from({ length: turns - first + 1 }, (_, index) => first + index) }
  }

  save(): Saved {
    return {
      session: this.#session,
      tracker: this.#tracker.save(),
      news: this.#news.known,
      reverted: this.#reverted,
      ...(this.#wordless.length > 0 ? { wordless: this.#wordless } : {}),
    }
  }

  #acceptSession(session: JsonObject): void {
    const id = session.id
    if (isSessionId(id)) this.#session = id
    const spawner = session.parent_id ?? session.parentID
    this.#reverted = textAt(objectAt(session, 'revert'), 'messageID')
    this.#news.report({
      id: this.#session,
      cwd: textAt(session, 'directory'),
      title: textAt(session, 'title'),
      version: textAt(session, 'version'),
      model: textAt(objectAt(session, 'model'), 'id'),
      started_at: momentOfMsAt(objectAt(session, 'time'), 'created'),
      ...(isSessionId(spawner) ? { spawner: { session: spawner, agent: this.#session } } : {}),
    })
  }

  #acceptPrompt(message: JsonObject, parts: readonly JsonObject[]): void {
    const id = textAt(message, 'id')
    const at = momentOfMsAt(objectAt(message, 'time'), 'created')
    const compacted = parts.some((part) => part.type === 'compaction')
    const words = parts
      .filter((part) => part.type === 'text' && part.synthetic !== true)
      .map((part) => textAt(part, 'text'))
    const text = unquoted(words.filter((word) => word !== undefined).join('\n'))
    const known = id === undefined ? undefined : this.#tracker.turnOf(MAIN, id)
    const isWordless = id !== undefined && this.#wordless.includes(id)
    // It begins a turn after all, and what was read since belongs to that.
    if (isWordless && !compacted && text !== '') throw new LostPlace(id)
    if (compacted || (text === '' && (known === undefined || isWordless))) {
      if (id !== undefined && !compacted && !isWordless) this.#wordless = [...this.#wordless, id].slice(-MOST_WORDLESS)
      const turn = known ?? this.#tracker.place(MAIN, id, undefined)
      if (compacted) this.setup.tell({ kind: 'mark', turn, mark: 'compacted', at })
      return
    }
    const turn = known ?? this.#tracker.begin(MAIN, id, undefined).turn
    const [prompt, copied] = [clip(text, CLIP.prompt), isFromBefore(at, this.#news.known) || undefined]
    this.setup.tell({ kind: 'turn', turn, follows: turn - 1, prompt, by: 'person', at, copied })
  }

  #acceptReply(message: JsonObject, parts: readonly JsonObject[]): void {
    const id = textAt(message, 'id') ?? ''
    const asked = textAt(message, 'parentID')
    const time = objectAt(message, 'time')
    const at = momentOfMsAt(time, 'created')
    const turn = (asked && this.#tracker.turnOf(MAIN, asked)) || this.#tracker.newestTurn(MAIN)
    const summary = message.summary === true
    for (const part of parts) {
      if (part.type === 'tool') this.#tellTool(part, turn, at)
      else if (part.type === 'text') {
        const text = textAt(part, 'text')
        if (!text || summary) continue
        const key = textAt(part, 'id') ?? id
        this.setup.tell({
          kind: 'said',
          turn,
          message: id,
          part: key,
          text: clip(text, CLIP.reply),
          at: momentOfMsAt(objectAt(part, 'time'), 'end') ?? at,
        })
      } else if (!QUIET_PARTS.has(String(part.type)) && part.type !== 'compaction') {
        countUnknown(this.setup.counters, `part/${String(part.type)}`)
      }
    }
    this.#tellUsage(message, turn, at)
    if (parts.some(isRefused))
      this.setup.tell({ kind: 'mark', turn, mark: 'aborted', at: momentOfMsAt(time, 'completed') })
    else this.#tellEnd(message, turn, summary, momentOfMsAt(time, 'completed'))
  }

  #tellTool(part: JsonObject, turn: number, at: Instant | undefined): void {
    const call = textAt(part, 'callID') ?? textAt(part, 'id')
    if (!call) return
    const state = objectAt(part, 'state')
    const time = objectAt(state, 'time')
    const name = textAt(part, 'tool') ?? '(unknown)'
    const began = momentOfMsAt(time, 'start') ?? at
    this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(state?.input), at: began })
    const status = textAt(state, 'status')
    if (status !== 'completed' && status !== 'error') return
    const metadata = objectAt(state, 'metadata')
    const start = numberAt(time, 'start')
    const end = numberAt(time, 'end')
    this.setup.tell({
      kind: 'tool-result',
      turn,
      call,
      result: clipResult(textAt(state, 'output') ?? textAt(state, 'error') ?? '', this.setup.options),
      // A command that failed is `completed`; only its exit code tells.
      success: status === 'completed' && (numberAt(metadata, 'exit') ?? 0) === 0,
      at: momentOfMsAt(time, 'end'),
      duration_ms: start !== undefined && end !== undefined && end >= start ? end - start : undefined,
      agent_started: textAt(metadata, 'sessionId'),
    })
  }

  #tellUsage(message: JsonObject, turn: number, at: Instant | undefined): void {
    const tokens = objectAt(message, 'tokens')
    if (!tokens) return
    const cache = objectAt(tokens, 'cache')
    const cost = numberAt(message, 'cost')
    const usage: UsageCall = {
      message_id: this.#callId(message),
      session: this.#session,
      model: textAt(message, 'modelID') ?? 'unknown',
      ts: at ?? this.setup.log.modified_at,
      input_tokens: countAt(tokens, 'input'),
      output_tokens: countAt(tokens, 'output') + countAt(tokens, 'reasoning'),
      cache_read_tokens: countAt(cache, 'read'),
      cache_write_5m_tokens: countAt(cache, 'write'),
      cache_write_1h_tokens: 0,
      web_search_requests: 0,
      ...(cost && cost > 0 ? { cost_usd: cost } : {}),
    }
    if (totalTokens(usage) === 0) return
    this.setup.tell({ kind: 'usage', turn, at, usage, ...copiedBefore(at, this.#news.known) })
  }

  /** A fork and an import give every message a new id but keep its times: those name the call. */
  #callId(message: JsonObject): string {
    const time = objectAt(message, 'time')
    const created = numberAt(time, 'created') ?? 0
    if (created === 0) return `${this.#session}/${textAt(message, 'id') ?? ''}`
    return `opencode/${created}/${textAt(message, 'providerID') ?? ''}/${textAt(message, 'modelID') ?? ''}`
  }

  #tellEnd(message: JsonObject, turn: number, summary: boolean, at: Instant | undefined): void {
    const error = objectAt(message, 'error')
    if (error) {
      const name = textAt(error, 'name') ?? 'error'
      const detail = textAt(objectAt(error, 'data'), 'message') ?? name
      const mark = name === 'MessageAbortedError' ? 'aborted' : 'failed'
      this.setup.tell({ kind: 'mark', turn, mark, detail: clip(detail, CLIP.result), at })
      return
    }
    if (summary) this.setup.tell({ kind: 'mark', turn, mark: 'compacted', at })
    const finish = textAt(message, 'finish')
    if (finish && finish !== 'tool-calls' && !summary) this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }
}

const REFUSALS = [
  'The user rejected permission to use this specific tool call.', // words of the user after it would go to the model
  'The user dismissed this question',
]
/** A refused call is the last one of its turn, unless its user has set that the model goes on: then a later message ends the turn. */
const isRefused = (part: JsonObject): boolean => {
  const state = objectAt(part, 'state')
  return part.type === 'tool' && state?.status === 'error' && REFUSALS.includes(textAt(state, 'error') ?? '')
}

/** `opencode run` stores what it was given with the quotes of a shell around it. */
function unquoted(text: string): string {
  return /^"[\s\S]*"$/.test(text) && text.length > 1 ? text.slice(1, -1) : text
}
