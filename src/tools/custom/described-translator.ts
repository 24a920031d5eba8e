import { type Instant, isSessionId, type SessionId, tokenCount } from '../../model/index.js'
import { type JsonPath, valueAt } from '../json-path.js'
import { isObject, type JsonObject, textAt } from '../json-value.js'
import { CLIP, clip } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentOf, momentOfMs } from '../log/moment.js'
import { SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'
import type { LogDescription } from './log-description.js'

/** What programs call who speaks. */
const PEOPLE = new Set(['user', 'human', 'prompt', 'person'])
const AGENTS = new Set(['assistant', 'agent', 'ai', 'bot', 'model'])
const OTHERS = new Set(['system', 'developer', 'tool', 'function', 'info'])
/** Times below this are seconds since 1970, those above are milliseconds. */
const SECONDS_END = 100_000_000_000

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  messages: number
}

/** Messages at the places that the user's configuration names. */
export class DescribedTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  #messages: number
  #at: Instant | undefined

  constructor(
    private readonly setup: TranslatorSetup,
    private readonly description: LogDescription,
  ) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? idFromName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#messages = saved?.messages ?? 0
  }

  accept(record: JsonObject): void {
    this.#tellSession(record)
    const role = this.#textAt(record, this.description.role)
    if (role === undefined) return
    this.#messages += 1
    const at = this.#timeOf(record)
    this.#at = at ?? this.#at
    this.#news.reportFirst({ started_at: at })
    const who = role.toLowerCase()
    if (PEOPLE.has(who)) this.#acceptPrompt(record, at)
    else if (AGENTS.has(who)) this.#acceptReply(record, at)
    else if (!OTHERS.has(who)) countUnknown(this.setup.counters, `message/${role.slice(0, 64)}`)
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
      messages: this.#messages,
    }
  }

  /** The first id counts: a log is one session. */
  #tellSession(record: JsonObject): void {
    const { session, cwd, model } = this.description
    const id = session && this.#textAt(record, session)
    if (isSessionId(id) && this.#news.known.id === undefined) {
      this.#session = id
      this.#news.report({ id })
    }
    this.#news.reportFirst({ cwd: cwd && this.#textAt(record, cwd) })
    this.#news.report({ model: model && this.#textAt(record, model) })
  }

  #acceptPrompt(record: JsonObject, at: Instant | undefined): void {
    const { turn, follows } = this.#tracker.begin(MAIN, undefined, undefined)
    const prompt = clip(wordsIn(valueAt(record, this.description.text)), CLIP.prompt)
    this.setup.tell({ kind: 'turn', turn, follows, prompt, by: 'person', at })
  }

  #acceptReply(record: JsonObject, at: Instant | undefined): void {
    const turn = this.#tracker.place(MAIN, undefined, undefined)
    const key = String(this.#messages)
    const text = wordsIn(valueAt(record, this.description.text))
    if (text !== '') this.setup.tell({ kind: 'said', turn, message: key, part: key, text: clip(text, CLIP.reply), at })
    this.#tellUsage(record, { turn, key, at })
    this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }

  #tellUsage(record: JsonObject, { turn, key, at }: { turn: number; key: string; at: Instant | undefined }): void {
    const { input_tokens: input, output_tokens: output } = this.description
    const counts = [input, output].map((path) => (path ? tokenCount(valueAt(record, path)) : 0)) as [number, number]
    if (counts.every((tokens) => tokens === 0)) return
    const [input_tokens, output_tokens] = counts
    this.setup.tell({
      kind: 'usage',
      turn,
      at,
      usage: {
        message_id: `${this.#session}/${key}`,
        session: this.#session,
        model: this.#news.known.model ?? 'unknown',
        ts: at ?? this.#at ?? this.setup.log.modified_at,
        input_tokens,
        output_tokens,
        cache_read_tokens: 0,
        cache_write_5m_tokens: 0,
        cache_write_1h_tokens: 0,
        web_search_requests: 0,
      },
    })
  }

  #timeOf(record: JsonObject): Instant | undefined {
    const value = this.description.time && valueAt(record, this.description.time)
    if (typeof value === 'string') return momentOf(value)
    if (typeof value !== 'number') return undefined
    return momentOfMs(value < SECONDS_END ? value * 1000 : value)
  }

  #textAt(record: JsonObject, path: JsonPath): string | undefined {
    const value = valueAt(record, path)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
}

/** A text, or the texts of a list of blocks. */
function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (isObject(value)) return textAt(value, 'text') ?? textAt(value, 'content') ?? ''
  if (!Array.isArray(value)) return ''
  return value
    .map((block) => (typeof block === 'string' ? block : isObject(block) ? (textAt(block, 'text') ?? '') : ''))
    .filter((words) => words !== '')
    .join('\n')
}
