import { basename, dirname } from 'node:path'
import { type Instant, isSessionId, msOf, type SessionId } from '../../model/index.js'
import { countAt, isObject, type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip, clipResult } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentAt } from '../log/moment.js'
import { copiedBefore, isFromBefore, SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'
import { answerOf, partsOf } from './gemini-parts.js'
import { projectPath } from './gemini-project.js'

/** What a hook added for the model: a message of its own, or in front of a prompt. */
const OF_A_HOOK = /^\s*<hook_context>[\s\S]*?<\/hook_context>\s*/
/** Or behind one, on a line of its own. */
const BEHIND = { from: '\n<hook_context>', to: '</hook_context>' }
const CONTEXT = '<session_context>'
/** What it says to the model by itself, in the middle of a turn. */
const OF_ITSELF = /^\[System: You successfully executed a tool but returned an empty response\b/
const MOST_PROMPTS = 300
/** A list that is written again message by message is written in one go. */
const REPEAT_MS = 1_000

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  headed: boolean
  prompts: [string, number][]
  repeated_at?: Instant | undefined
}

/**
 * Gemini CLI's sessions: a log of changes. A message that is written again replaces the one with its id; `$set.messages`
 * replaces the whole list, which happens at every resume and when the context is compressed. What was said and paid stays said:
 * a message that a later list leaves out is still a turn. After a refused call it writes the whole list again with other ids, message by
 * message, and then as a list: that says nothing new.
 */
export class GeminiTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  #headed: boolean
  /** The turn that each prompt began, for the last few hundred. */
  #prompts: Map<string, number>
  #at: Instant | undefined
  /** When a list began to be written again. */
  #repeatedAt: Instant | undefined

  constructor(private readonly setup: TranslatorSetup) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? idFromName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#headed = saved?.headed ?? false
    this.#prompts = new Map(saved?.prompts)
    this.#repeatedAt = saved?.repeated_at
  }

  accept(record: JsonObject): void {
    const change = objectAt(record, '$set')
    if (change) this.#acceptChange(change)
    else if (record.$rewindTo !== undefined) this.#goBack(textAt(record, '$rewindTo'))
    else if (record.sessionId !== undefined && record.type === undefined) this.#acceptHeader(record)
    else if (record.type !== undefined || record.id !== undefined) this.#acceptMessage(record)
    else countUnknown(this.setup.counters, Object.keys(record)[0] ?? '(empty)')
  }

  finish(): void {
    const cwd = this.#news.known.cwd ?? projectPath(this.setup.log, this.setup.options)
    this.#news.reportFirst({ id: this.#session, cwd })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(undefined)
  }

  save(): Saved {
    const [session, headed, prompts] = [this.#session, this.#headed, [...this.#prompts].slice(-MOST_PROMPTS)]
    const repeat = this.#repeatedAt === undefined ? {} : { repeated_at: this.#repeatedAt }
    return { session, tracker: this.#tracker.save(), news: this.#news.known, headed, prompts, ...repeat }
  }

  /** Written again at every resume, with a new start time: the first one counts. */
  #acceptHeader(header: JsonObject): void {
    const id = header.sessionId
    if (!this.#headed) {
      if (isSessionId(id)) this.#session = id
      const [started_at, cwd] = [momentAt(header, 'startTime'), projectPath(this.setup.log, this.setup.options)]
      this.#news.report({ id: this.#session, started_at, cwd })
      this.#headed = true
    }
    this.#news.report({ title: textAt(header, 'summary') })
    const [directory] = listAt(header, 'directories')
    if (typeof directory === 'string') this.#news.reportFirst({ cwd: directory })
    const spawner = basename(dirname(this.setup.log.path))
    if (header.kind === 'subagent' && isSessionId(spawner))
      this.#news.reportFirst({ spawner: { session: spawner, agent: this.#session } })
  }

  #acceptChange(change: JsonObject): void {
    this.#news.report({ title: textAt(change, 'summary') })
    if (Array.isArray(change.messages)) this.#acceptList(change.messages.filter(isObject))
  }

  /**
   * At the start of a log, a list is history that came from elsewhere, and is read as if it had been written message by message.
   * Later it repeats what is known, with less detail; words that are not known then are the summary of a compressed context.
   */
  #acceptList(messages: readonly JsonObject[]): void {
    this.#repeatedAt = undefined
    if (this.#tracker.turns(MAIN) === 0) {
      for (const message of messages) this.#acceptMessage(message)
      return
    }
    const unknown = messages.filter((message) => {
      const text = wordsOf(message)
      const known = this.#tracker.turnOf(MAIN, textAt(message, 'id') ?? '') !== undefined
      return !known && text !== '' && !text.startsWith(CONTEXT)
    })
    // The next list has them again.
    for (const message of unknown) this.#tracker.place(MAIN, textAt(message, 'id'), undefined)
    if (unknown.length > 0) this.setup.tell({ kind: 'mark', turn: this.#turn(), mark: 'compacted', at: this.#at })
  }

  /** That message and all after it are taken out of the list. No recorded log has this. */
  #goBack(to: string | undefined): void {
    if (to === undefined) return
    const began = this.#prompts.get(to)
    const turn = began === undefined ? this.#tracker.turnOf(MAIN, to) : this.#tracker.before(MAIN, began)
    if (turn !== undefined) this.#tracker.goBackTo(MAIN, turn)
  }

  #acceptMessage(message: JsonObject): void {
    const at = momentAt(message, 'timestamp')
    this.#at = at ?? this.#at
    const type = textAt(message, 'type') ?? '(none)'
    if (this.#isRepeated(message, type, at)) this.#tracker.place(MAIN, textAt(message, 'id'), undefined)
    else if (type === 'user') this.#acceptUser(message, at)
    else if (type === 'gemini') this.#acceptReply(message, at)
    else if (type === 'error') this.#mark(message, 'failed', at)
    else if (type === 'info' && /cancel+ed/i.test(wordsOf(message))) this.#mark(message, 'aborted', at)
    else if (type !== 'info' && type !== 'warning') countUnknown(this.setup.counters, type)
  }

  /** Every list begins with the context, which is never said again by itself. A reply that was paid for is a new one. */
  #isRepeated(message: JsonObject, type: string, at: Instant | undefined): boolean {
    const isNew = this.#tracker.turnOf(MAIN, textAt(message, 'id') ?? '') === undefined
    if (!isNew || at === undefined) return false
    if (type === 'user' && this.#tracker.turns(MAIN) > 0 && wordsOf(message).startsWith(CONTEXT)) this.#repeatedAt = at
    const since = this.#repeatedAt
    const isSameTime = since !== undefined && Math.abs(msOf(at) - msOf(since)) < REPEAT_MS
    if (!isSameTime || (type === 'gemini' && objectAt(message, 'tokens'))) this.#repeatedAt = undefined
    return this.#repeatedAt !== undefined && (type === 'user' || type === 'gemini')
  }

  #acceptUser(message: JsonObject, at: Instant | undefined): void {
    const id = textAt(message, 'id')
    const { text, results } = partsOf(contentOf(message))
    const words = withoutHooks(typeof message.content === 'string' ? message.content : text)
    const known = id === undefined ? undefined : this.#tracker.turnOf(MAIN, id)
    if (words.startsWith(CONTEXT)) {
      const cwd = /Workspace Director(?:y|ies):\*{0,2}\s*-?\s*(\/[^\n]+)/.exec(words)?.[1]
      this.#news.reportFirst({ cwd })
    }
    if (words === '' || words.startsWith(CONTEXT) || OF_ITSELF.test(words)) {
      const turn = known ?? this.#tracker.place(MAIN, id, undefined)
      for (const { id: call, text: result, success } of results) {
        this.setup.tell({
          kind: 'tool-result',
          turn,
          call,
          result: clipResult(result, this.setup.options),
          success,
          at,
        })
      }
      return
    }
    if (known !== undefined) return
    const { turn, follows } = this.#tracker.begin(MAIN, id, undefined)
    if (id) this.#prompts.set(id, turn)
    const copied = isFromBefore(at, this.#news.known) || undefined
    this.setup.tell({ kind: 'turn', turn, follows, prompt: clip(words, CLIP.prompt), by: 'person', at, copied })
  }

  #acceptReply(message: JsonObject, at: Instant | undefined): void {
    const id = textAt(message, 'id')
    const turn = (id && this.#tracker.turnOf(MAIN, id)) || this.#tracker.place(MAIN, id, undefined)
    const { text, calls } = partsOf(contentOf(message))
    const words = typeof message.content === 'string' ? message.content : text
    const key = id ?? `${at}`
    if (words !== '')
      this.setup.tell({ kind: 'said', turn, message: key, part: key, text: clip(words, CLIP.reply), at })
    for (const { id: call, name, arguments: given } of calls) {
      this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(given), at })
    }
    const tools = listAt(message, 'toolCalls').filter(isObject)
    for (const tool of tools) this.#tellTool(tool, turn, at)
    this.#tellUsage(message, key, turn, at)
    if (calls.length === 0 && tools.length === 0) this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }

  #tellTool(tool: JsonObject, turn: number, at: Instant | undefined): void {
    const call = textAt(tool, 'id')
    if (!call) return
    const name = textAt(tool, 'name') ?? '(unknown)'
    this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(tool.args), at })
    const status = textAt(tool, 'status')
    if (!status || (status !== 'success' && status !== 'error' && status !== 'cancelled')) return
    const responses = listAt(tool, 'result').map((part) =>
      answerOf(objectAt(objectAt(isObject(part) ? part : undefined, 'functionResponse'), 'response')),
    )
    const result = clipResult(responses.map((response) => response.text).join('\n'), this.setup.options)
    const success = status === 'success' && responses.every((response) => response.success)
    this.setup.tell({ kind: 'tool-result', turn, call, result, success, at: momentAt(tool, 'timestamp') })
  }

  /** Thoughts and the prompts of tools are counted apart; cached tokens within the input. */
  #tellUsage(message: JsonObject, message_id: string, turn: number, at: Instant | undefined): void {
    const counts = objectAt(message, 'tokens')
    if (!counts) return
    const cached = countAt(counts, 'cached')
    this.setup.tell({
      kind: 'usage',
      turn,
      at,
      usage: {
        message_id,
        session: this.#session,
        model: textAt(message, 'model') ?? 'unknown',
        ts: at ?? this.#at ?? this.setup.log.modified_at,
        input_tokens: Math.max(0, countAt(counts, 'input') - cached) + countAt(counts, 'tool'),
        output_tokens: countAt(counts, 'output') + countAt(counts, 'thoughts'),
        cache_read_tokens: cached,
        cache_write_5m_tokens: 0,
        cache_write_1h_tokens: 0,
        web_search_requests: 0,
      },
      ...copiedBefore(at, this.#news.known),
    })
  }

  #mark(message: JsonObject, mark: 'failed' | 'aborted', at: Instant | undefined): void {
    this.setup.tell({ kind: 'mark', turn: this.#turn(), mark, detail: clip(wordsOf(message), CLIP.result), at })
  }

  #turn(): number {
    return this.#tracker.newestTurn(MAIN)
  }
}

const contentOf = (message: JsonObject): readonly unknown[] => listAt(message, 'content')

function wordsOf(message: JsonObject): string {
  return typeof message.content === 'string' ? message.content : partsOf(contentOf(message)).text
}

/** A prompt as its user wrote it. */
function withoutHooks(text: string): string {
  const words = text.replace(OF_A_HOOK, '')
  if (!words.trimEnd().endsWith(BEHIND.to)) return words
  const at = words.lastIndexOf(BEHIND.from)
  return at < 0 ? words : words.slice(0, at)
}
