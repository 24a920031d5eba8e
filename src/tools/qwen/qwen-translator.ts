import { type Instant, isSessionId, type SessionId } from '../../model/index.js'
import { type CalledTool, partsOf } from '../gemini/gemini-parts.js'
import { countAt, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentAt } from '../log/moment.js'
import { SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'

const SYSTEM_LINES = new Set(
  'ui_telemetry attribution_snapshot chat_compression slash_command at_command notification file_history_snapshot'.split(
    ' ',
  ),
)

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  ran: { name: string; duration_ms: number | undefined } | undefined
  headed: boolean
}

/** Qwen Code's sessions: lines like Claude's, messages like Gemini's. */
export class QwenTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  /** Telemetry times a call by the tool's name, in the line before its result. */
  #ran: Saved['ran']
  #headed: boolean
  #at: Instant | undefined

  constructor(private readonly setup: TranslatorSetup) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? setup.log.session ?? idFromName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#ran = saved?.ran
    this.#headed = saved?.headed ?? false
  }

  accept(record: JsonObject): void {
    const at = momentAt(record, 'timestamp')
    this.#at = at ?? this.#at
    const id = record.sessionId
    if (!this.#headed && isSessionId(id)) {
      this.#headed = true
      this.#session = id
      this.#news.report({ id })
    }
    const cwd = textAt(record, 'cwd')
    this.#news.reportFirst({ cwd, started_at: at, root: textAt(record, 'uuid') })
    this.#news.report({ branch: textAt(record, 'gitBranch'), version: textAt(record, 'version') })
    const type = textAt(record, 'type') ?? '(none)'
    if (type === 'user') this.#acceptUser(record, at)
    else if (type === 'assistant') this.#acceptAssistant(record, at)
    else if (type === 'tool_result') this.#acceptResult(record, at)
    else if (type === 'system') this.#acceptSystem(record, at)
    else {
      this.#place(record)
      countUnknown(this.setup.counters, type)
    }
  }

  finish(): void {
    this.#news.reportFirst({ id: this.#session })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(undefined)
  }

  save(): Saved {
    const [session, ran, headed] = [this.#session, this.#ran, this.#headed]
    return { session, tracker: this.#tracker.save(), news: this.#news.known, ran, headed }
  }

  #acceptUser(record: JsonObject, at: Instant | undefined): void {
    const { text } = partsOf(listAt(objectAt(record, 'message'), 'parts'))
    if (text === '') {
      this.#place(record)
      return
    }
    const { turn, follows } = this.#tracker.begin(MAIN, textAt(record, 'uuid'), entryBefore(record))
    this.setup.tell({ kind: 'turn', turn, follows, prompt: clip(text, CLIP.prompt), by: 'person', at })
  }

  #acceptAssistant(record: JsonObject, at: Instant | undefined): void {
    const turn = this.#place(record)
    const id = textAt(record, 'uuid') ?? `${at}`
    const { text, calls } = partsOf(listAt(objectAt(record, 'message'), 'parts'))
    if (text !== '') this.setup.tell({ kind: 'said', turn, message: id, part: id, text: clip(text, CLIP.reply), at })
    for (const call of calls) this.#tellCall(call, turn, at)
    this.#tellUsage(record, id, turn, at)
    if (calls.length === 0) this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }

  #tellCall(called: CalledTool, turn: number, at: Instant | undefined): void {
    const { id: call, name } = called
    this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(called.arguments), at })
  }

  #tellUsage(record: JsonObject, id: string, turn: number, at: Instant | undefined): void {
    const counts = objectAt(record, 'usageMetadata')
    if (!counts) return
    const prompt = countAt(counts, 'promptTokenCount')
    const cached = countAt(counts, 'cachedContentTokenCount')
    const total = countAt(counts, 'totalTokenCount')
    // Whether thoughts are within the candidates depends on the provider; the total knows.
    const apart = countAt(counts, 'candidatesTokenCount') + countAt(counts, 'thoughtsTokenCount')
    this.setup.tell({
      kind: 'usage',
      turn,
      at,
      usage: {
        message_id: id,
        session: this.#session,
        model: textAt(record, 'model') ?? 'unknown',
        ts: at ?? this.#at ?? this.setup.log.modified_at,
        input_tokens: Math.max(0, prompt - cached),
        output_tokens: total >= prompt && total > 0 ? total - prompt : apart,
        cache_read_tokens: cached,
        cache_write_5m_tokens: 0,
        cache_write_1h_tokens: 0,
        web_search_requests: 0,
      },
    })
  }

  #acceptResult(record: JsonObject, at: Instant | undefined): void {
    const turn = this.#place(record)
    const status = textAt(objectAt(record, 'toolCallResult'), 'status')
    const ran = this.#ran
    for (const result of partsOf(listAt(objectAt(record, 'message'), 'parts')).results) {
      const success = status === undefined || status === 'success' ? result.success : false
      const duration_ms = ran && ran.name === result.name ? ran.duration_ms : undefined
      const text = clip(result.text, CLIP.result)
      this.setup.tell({ kind: 'tool-result', turn, call: result.id, result: text, success, at, duration_ms })
    }
    this.#ran = undefined
  }

  #acceptSystem(record: JsonObject, at: Instant | undefined): void {
    const turn = this.#place(record)
    const subtype = textAt(record, 'subtype') ?? '(none)'
    if (!SYSTEM_LINES.has(subtype)) countUnknown(this.setup.counters, `system/${subtype}`)
    if (subtype === 'chat_compression') this.setup.tell({ kind: 'mark', turn, mark: 'compacted', at })
    const event = objectAt(objectAt(record, 'systemPayload'), 'uiEvent')
    if (textAt(event, 'event.name') === 'qwen-code.tool_call') {
      this.#ran = { name: textAt(event, 'function_name') ?? '', duration_ms: numberAt(event, 'duration_ms') }
    }
  }

  #place(record: JsonObject): number {
    return this.#tracker.place(MAIN, textAt(record, 'uuid'), entryBefore(record))
  }
}

function entryBefore(record: JsonObject): string | null | undefined {
  if (record.parentUuid === null) return null
  return textAt(record, 'parentUuid')
}
