import { type Instant, instantIfAny, isSessionId, type SessionId, type UsageCall } from '../../model/index.js'
import { isObject, type JsonObject, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip, clipResult } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, Mark, SessionNews } from '../log/fact.js'
import { acceptRecord, type Translator, type TranslatorSetup } from '../log/jsonl-log.js'
import { momentAt } from '../log/moment.js'
import { copiedBefore, isFromBefore, SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'
import { historyOf } from './codex-history.js'
import { isTyped, outputOf, successOf, wordsOf } from './codex-items.js'
import { QUIET_EVENTS, QUIET_ITEMS, RUNS } from './codex-known.js'
import { sessionInName } from './codex-name.js'
import { type CallContext, CodexMeter, type SavedMeter } from './codex-usage.js'

/** When a UUID was made, if it says so (version 7). */
const madeAt = (id: string): Instant | undefined =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id)
    ? instantIfAny(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
    : undefined

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  model: string
  task: Task | undefined
  prompt: OpenPrompt | undefined
  meter: SavedMeter
  headed: boolean
  copy?: SessionId | undefined
}
/** Codex calls a turn a task. One without a prompt is its own work: it summarises the context. */
interface Task {
  id: string
  at: Instant | undefined
  prompted: boolean
  answered: boolean
}
interface OpenPrompt {
  turn: number
  follows: number
  text: string
  at: Instant | undefined
  /** Nothing has happened since, so the same text again is the same prompt told twice. */
  fresh: boolean
}

/**
 * Codex rollouts: a list with task events around each turn, the history of a fork left in the file of its origin, or copied into its own
 * file behind the header of the origin (`history_mode: legacy`).
 */
export class CodexTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  #model: string
  #task: Task | undefined
  #prompt: OpenPrompt | undefined
  #meter: CodexMeter
  #headed: boolean
  #at: Instant | undefined
  /** The session whose lines are being read as this one's history. */
  #copiedFrom: SessionId | undefined
  /** The session whose lines this file begins with. Codex gives them the time of the copy; only its tasks keep the ids that they had. */
  #copy: SessionId | undefined

  constructor(private readonly setup: TranslatorSetup) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? sessionInName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#model = saved?.model ?? 'unknown'
    this.#task = saved?.task
    this.#prompt = saved?.prompt
    this.#meter = new CodexMeter(saved?.meter)
    this.#headed = saved?.headed ?? false
    this.#copy = saved?.copy
  }

  /** The history that a fork shares with its origin, told before its own lines. */
  *prelude(): Generator<void> {
    const { log, options, counters } = this.setup
    const { origin, segments } = historyOf(log, options.find, counters)
    // Whoever wants only the beginning of this log does not want all of another.
    const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
    for (const { session, records } of bytes > (options.limitBytes ?? bytes) * 16 ? [] : segments) {
      this.#copiedFrom = session
      for (const record of records()) {
        acceptRecord(this, record, counters)
        yield
      }
      this.#task = undefined
      this.#prompt = undefined
    }
    this.#copiedFrom = undefined
    const turn = this.#tracker.turns(MAIN)
    if (origin) this.#news.report({ origin: turn > 0 ? { session: origin, turn } : { session: origin } })
  }

  accept(record: JsonObject): void {
    const at = momentAt(record, 'timestamp')
    this.#at = at ?? this.#at
    const payload = objectAt(record, 'payload')
    if (payload) this.#acceptPayload(textAt(record, 'type') ?? '(none)', payload, at)
    else this.#acceptBare(record, at)
  }

  /** Until September 2025 lines had no envelope: the header, then items, with markers between them. */
  #acceptBare(record: JsonObject, at: Instant | undefined): void {
    if (record.record_type !== undefined) return
    if (record.type !== undefined) this.#acceptItem(record, at)
    else if (record.id !== undefined && !this.#copiedFrom) this.#acceptMeta(record)
    else this.#countUnknown('(none)')
  }

  #acceptPayload(type: string, payload: JsonObject, at: Instant | undefined): void {
    switch (type) {
      case 'session_meta':
        if (!this.#copiedFrom) this.#acceptMeta(payload)
        break
      case 'turn_context':
        this.#model = textAt(payload, 'model') ?? this.#model
        if (!this.#copiedFrom) this.#news.report({ model: textAt(payload, 'model') })
        break
      case 'response_item':
        this.#acceptItem(payload, at)
        break
      case 'event_msg':
        this.#acceptEvent(payload, at)
        break
      case 'token_usage_record':
        this.#tellUsage(this.#meter.fromRecord(payload, this.#call(at)), at)
        break
      case 'compacted':
        this.#mark('compacted', at)
        break
      case 'world_state':
      case 'git_state':
        break
      default:
        this.#countUnknown(type)
    }
  }

  finish(): void {
    this.#news.reportFirst({ id: this.#session })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(undefined)
  }

  save(): Saved {
    return {
      session: this.#session,
      tracker: this.#tracker.save(),
      news: this.#news.known,
      model: this.#model,
      task: this.#task,
      prompt: this.#prompt,
      meter: this.#meter.save(),
      headed: this.#headed,
      copy: this.#copy,
    }
  }

  #acceptMeta(meta: JsonObject): void {
    const id = textAt(meta, 'id') ?? textAt(meta, 'session_id')
    if (this.#headed) {
      if (isSessionId(id) && id !== this.#session) this.#copy ??= id
      return
    }
    this.#headed = true
    if (isSessionId(id)) this.#session = id
    const spawner = parentThreadIn(meta.source)
    this.#news.report({
      id: this.#session,
      cwd: textAt(meta, 'cwd'),
      version: textAt(meta, 'cli_version'),
      branch: textAt(objectAt(meta, 'git'), 'branch'),
      started_at: momentAt(meta, 'timestamp'),
      ...(isSessionId(spawner) ? { spawner: { session: spawner, agent: this.#session } } : {}),
    })
  }

  #acceptItem(item: JsonObject, at: Instant | undefined): void {
    const type = textAt(item, 'type') ?? '(none)'
    if (type === 'message') this.#acceptMessage(item, at)
    else if (type === 'function_call' || type === 'custom_tool_call' || type === 'local_shell_call')
      this.#tellCall(item, at)
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') this.#tellResult(item, at)
    else if (type === 'web_search_call' || type === 'tool_search_call' || type === 'image_generation_call') {
      if (type === 'web_search_call') this.#meter.countSearch()
      this.#tellCall({ ...item, name: type.replace(/_call$/, ''), call_id: textAt(item, 'id') ?? `${type}-${at}` }, at)
    } else if (!QUIET_ITEMS.has(type)) this.#countUnknown(`response_item/${type}`)
  }

  #acceptMessage(item: JsonObject, at: Instant | undefined): void {
    const text = wordsOf(item)
    if (item.role === 'user' && text !== '') {
      if (isTyped(item, text)) this.#acceptPrompt(text, at, 'item')
      else if (!this.#copiedFrom) this.#news.reportFirst({ cwd: /<cwd>([^<]+)<\/cwd>/.exec(text)?.[1] })
    }
    if (item.role !== 'assistant' || text === '' || this.#isOwnWork()) return
    const message = textAt(item, 'id') ?? `${this.#tracker.newestTurn(MAIN)}/${at ?? text.length}`
    this.#say(message, text, at)
  }

  #say(message: string, text: string, at: Instant | undefined): void {
    this.#touch()
    if (this.#task) this.#task.answered = true
    this.setup.tell({ kind: 'said', turn: this.#turn(), message, part: message, text: clip(text, CLIP.reply), at })
  }

  /** A prompt is logged as an item and as an event; what is typed while a task runs belongs to its turn. */
  #acceptPrompt(text: string, at: Instant | undefined, as: 'item' | 'event'): void {
    const open = this.#prompt
    if (text === '' || (open?.fresh && open.text === text)) return
    if (this.#task?.prompted && as === 'event') return
    if (this.#task?.prompted && open) {
      this.#prompt = { ...open, text: `${open.text}\n${text}`, fresh: true }
    } else {
      const { turn, follows } = this.#tracker.begin(MAIN, this.#task?.id, undefined)
      this.#prompt = { turn, follows, text, at: this.#task?.at ?? at, fresh: true }
      if (this.#task) this.#task.prompted = true
    }
    const { turn, follows, text: prompt, at: began } = this.#prompt
    const [isCopied, { origin }] = [this.#isCopied(began), this.#news.known]
    this.setup.tell({
      kind: 'turn',
      turn,
      follows,
      prompt: clip(prompt, CLIP.prompt),
      by: 'person',
      at: began,
      ...(isCopied ? { copied: true } : {}),
    })
    if (isCopied && origin && !this.#copiedFrom) this.#news.report({ origin: { ...origin, turn } })
  }

  #tellCall(item: JsonObject, at: Instant | undefined): void {
    const call = textAt(item, 'call_id') ?? textAt(item, 'id')
    if (!call) return
    this.#touch()
    const given = item.arguments ?? item.input ?? item.action
    const name = textAt(item, 'name') ?? 'local_shell'
    this.setup.tell({ kind: 'tool-call', turn: this.#turn(), call, name, arguments: argumentsOf(given), at })
  }

  #tellResult(item: JsonObject, at: Instant | undefined): void {
    const call = textAt(item, 'call_id')
    if (!call) return
    const { text, ...end } = outputOf(item)
    this.setup.tell({
      kind: 'tool-result',
      turn: this.#turn(),
      call,
      result: clipResult(text, this.setup.options),
      at,
      ...end,
    })
  }

  #acceptEvent(event: JsonObject, at: Instant | undefined): void {
    const type = textAt(event, 'type') ?? '(none)'
    switch (type) {
      case 'task_started':
        this.#beginTask(textAt(event, 'turn_id') ?? `${at}`, at)
        break
      case 'task_complete':
      case 'turn_complete':
        this.#endTask(event, at)
        break
      case 'turn_aborted':
        this.#mark('aborted', at, { detail: textAt(event, 'reason'), duration_ms: numberAt(event, 'duration_ms') })
        this.#task = undefined
        break
      case 'error':
        this.#mark('failed', at, { detail: textAt(event, 'message') })
        break
      case 'thread_rolled_back':
        this.#goBack(numberAt(event, 'num_turns') ?? 0)
        break
      case 'user_message':
        this.#acceptPrompt(textAt(event, 'message') ?? '', at, 'event')
        break
      case 'item_completed':
        this.#acceptDone(objectAt(event, 'item') ?? {}, at)
        break
      case 'token_count':
        this.#tellUsage(this.#meter.fromCount(objectAt(event, 'info'), this.#call(at)), at)
        break
      default:
        if (!QUIET_EVENTS.has(type)) this.#countUnknown(`event_msg/${type}`)
    }
  }

  #endTask(event: JsonObject, at: Instant | undefined): void {
    if (this.#isOwnWork()) {
      this.#task = undefined
      return
    }
    const last = textAt(event, 'last_agent_message')
    if (last && this.#task && !this.#task.answered) this.#say(`${this.#task.id}/last`, last, at)
    const error = objectAt(event, 'error')
    const duration_ms = numberAt(event, 'duration_ms')
    if (error) this.#mark('failed', at, { detail: textAt(error, 'message'), duration_ms })
    else this.#mark('completed', at, { duration_ms })
    this.#task = undefined
  }

  /** The user took back the last turns; what comes next follows the one before them. */
  #goBack(turns: number): void {
    this.#tracker.goBackTo(MAIN, Math.max(0, this.#turn() - Math.trunc(turns)))
    this.#prompt = undefined
  }

  /** The finished item knows more about a call than the text that was sent to the model. */
  #acceptDone(item: JsonObject, at: Instant | undefined): void {
    if (item.type === 'UserMessage') this.#acceptPrompt(wordsOf(item), at, 'event')
    const call = textAt(item, 'id')
    const success = successOf(item)
    if (!call || success === undefined || !RUNS.has(`${item.type}`)) return
    const text = textAt(item, 'aggregated_output') ?? textAt(item, 'stdout') ?? ''
    this.setup.tell({
      kind: 'tool-result',
      turn: this.#turn(),
      call,
      result: clipResult(text, this.setup.options),
      success,
      at,
    })
  }

  #beginTask(id: string, at: Instant | undefined): void {
    if (!isFromBefore(madeAt(id), this.#news.known)) this.#copy = undefined
    this.#task = { id, at, prompted: false, answered: false }
  }

  #tellUsage(usage: UsageCall | undefined, at: Instant | undefined): void {
    if (!usage) return
    const copied_from = this.#copiedFrom ?? this.#copy
    const copied = copied_from ? { copied: true, copied_from } : copiedBefore(at, this.#news.known)
    this.setup.tell({ kind: 'usage', turn: this.#turn(), at, usage, ...copied })
  }

  #call(at: Instant | undefined): CallContext {
    const ts = at ?? this.#at ?? this.setup.log.modified_at
    const maker =
      (this.#isCopied(at) && (this.#copiedFrom ?? this.#copy ?? this.#news.known.origin?.session)) || this.#session
    return { session: this.#session, maker, task: this.#task?.id, model: this.#model, ts }
  }

  #mark(
    mark: Mark,
    at: Instant | undefined,
    more: { detail?: string | undefined; duration_ms?: number | undefined } = {},
  ): void {
    const detail = more.detail === undefined ? undefined : clip(more.detail, CLIP.result)
    this.setup.tell({ kind: 'mark', turn: this.#turn(), mark, at, ...more, detail })
  }

  /** What is odd about another session's lines is counted there. */
  #countUnknown(type: string): void {
    if (!this.#copiedFrom) countUnknown(this.setup.counters, type)
  }

  /** The task that runs was not asked for: what it says is not a reply. */
  #isOwnWork(): boolean {
    return this.#task !== undefined && !this.#task.prompted
  }

  #turn(): number {
    return this.#tracker.newestTurn(MAIN)
  }

  /** A line of another session's log, or one that is older than this session. */
  #isCopied(at: Instant | undefined): boolean {
    return (this.#copiedFrom ?? this.#copy) !== undefined || isFromBefore(at, this.#news.known)
  }

  #touch(): void {
    if (this.#prompt) this.#prompt.fresh = false
  }
}

/** The thread that started this one is named within the source, at a level that differs by version. */
function parentThreadIn(source: unknown, levels = 6): string | undefined {
  if (!isObject(source) || levels === 0) return undefined
  const own = textAt(source, 'parent_thread_id')
  if (own !== undefined) return own
  for (const name in source) {
    const found = parentThreadIn(source[name], levels - 1)
    if (found !== undefined) return found
  }
  return undefined
}
