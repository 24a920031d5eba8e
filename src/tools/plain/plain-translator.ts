import { type Instant, isSessionId, type SessionId } from '../../model/index.js'
import { countAt, isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentAt } from '../log/moment.js'
import { SessionReporter } from '../log/session-news.js'
import { MAIN, TurnTracker } from '../log/turn-tracker.js'

/** The plain form's records: the document without its messages, as `header`, then each message. */
export class PlainTranslator implements Translator {
  #tracker: TurnTracker
  #news: SessionReporter
  #session: SessionId
  #header: JsonObject = {}
  #messages = 0
  #at: Instant | undefined

  constructor(private readonly setup: TranslatorSetup) {
    this.#tracker = new TurnTracker(setup.counters)
    this.#news = new SessionReporter(setup.tell)
    this.#session = idFromName(setup.log.path)
  }

  accept(record: JsonObject): void {
    const header = objectAt(record, 'header')
    if (header) {
      this.#acceptHeader(header)
      return
    }
    this.#messages += 1
    const at = momentAt(record, 'timestamp')
    this.#at = at ?? this.#at
    this.#news.reportFirst({ started_at: at })
    if (record.role === 'user') this.#acceptPrompt(record, at)
    else if (record.role === 'assistant') this.#acceptReply(record, at)
    else if (record.role !== 'system') countUnknown(this.setup.counters, `message/${String(record.role)}`)
  }

  /** The sum is reported last, as one call: that is all the document contains. */
  finish(): void {
    this.#news.reportFirst({ id: this.#session })
    const counts = objectAt(this.#header, 'usage')
    if (!counts) return
    this.setup.tell({
      kind: 'usage',
      turn: this.#tracker.newestTurn(MAIN),
      at: this.#at,
      usage: {
        message_id: `${this.#session}/sum`,
        session: this.#session,
        model: textAt(this.#header, 'model') ?? 'unknown',
        ts: this.#at ?? this.setup.log.modified_at,
        input_tokens: countAt(counts, 'input_tokens'),
        output_tokens: countAt(counts, 'output_tokens'),
        cache_read_tokens: countAt(counts, 'cache_read_input_tokens'),
        cache_write_5m_tokens: countAt(counts, 'cache_creation_input_tokens'),
        cache_write_1h_tokens: 0,
        web_search_requests: 0,
      },
    })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(undefined)
  }

  save(): unknown {
    return {}
  }

  #acceptHeader(header: JsonObject): void {
    this.#header = header
    if (isSessionId(header.id)) this.#session = header.id
    this.#news.report({
      id: this.#session,
      cwd: textAt(header, 'cwd'),
      branch: textAt(header, 'branch'),
      title: textAt(header, 'title'),
      model: textAt(header, 'model'),
    })
  }

  #acceptPrompt(message: JsonObject, at: Instant | undefined): void {
    const { turn, follows } = this.#tracker.begin(MAIN, undefined, undefined)
    this.setup.tell({ kind: 'turn', turn, follows, prompt: clip(wordsOf(message), CLIP.prompt), by: 'person', at })
  }

  #acceptReply(message: JsonObject, at: Instant | undefined): void {
    const turn = this.#tracker.place(MAIN, undefined, undefined)
    const id = `${this.#messages}`
    const text = wordsOf(message)
    for (const [index, tool] of listAt(message, 'tool_calls').entries()) {
      if (!isObject(tool)) continue
      const call = textAt(tool, 'id') ?? `${id}/${index}`
      const name = textAt(tool, 'name') ?? '(unknown)'
      this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(tool.arguments), at })
      const result = textAt(tool, 'result')
      if (result === undefined) continue
      const success = tool.success !== false && tool.is_error !== true
      const duration_ms = numberAt(tool, 'duration_ms')
      this.setup.tell({ kind: 'tool-result', turn, call, result: clip(result, CLIP.result), success, duration_ms })
    }
    if (text !== '') this.setup.tell({ kind: 'said', turn, message: id, part: id, text: clip(text, CLIP.reply), at })
    this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }
}

function wordsOf(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content
  return listAt(message, 'content')
    .map((block) => (isObject(block) ? (textAt(block, 'text') ?? '') : ''))
    .join('\n')
}
