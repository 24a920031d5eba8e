import { type Instant, isSessionId, type SessionId, totalTokens, type UsageCall } from '../../model/index.js'
import { countAt, isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { argumentsOf, CLIP, clip, clipResult } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { momentAt, momentOfMsAt } from '../log/moment.js'
import { copiedBefore, SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'
import { originOf, sessionInName } from './pi-name.js'

/** Entries that take their place in the tree and say nothing about turns. */
const QUIET = new Set(
  'model_change thinking_level_change branch_summary custom custom_message label context_edit reset'.split(' '),
)
const QUIET_ROLES = new Set('system custom hookMessage bashExecution branchSummary compactionSummary'.split(' '))

interface Saved {
  session: SessionId
  tracker: SavedTracker
  news: SessionNews
  entries: number
  headed: boolean
}

/**
 * pi's sessions, versions 1 to 3, and OpenClaw's transcripts, which began as pi's: a header, then entries that form a tree by id
 * and parentId. Version 1 had no ids: its entries follow one another.
 */
export class PiTranslator implements Translator {
  #session: SessionId
  #tracker: TurnTracker
  #news: SessionReporter
  /** How many entries there were: the id of one that has none. */
  #entries: number
  #headed: boolean
  #at: Instant | undefined

  constructor(private readonly setup: TranslatorSetup) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? setup.log.session ?? sessionInName(setup.log.path)
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#entries = saved?.entries ?? 0
    this.#headed = saved?.headed ?? false
  }

  accept(record: JsonObject): void {
    const type = textAt(record, 'type') ?? '(none)'
    if (type === 'session') {
      this.#acceptHeader(record)
      return
    }
    this.#entries += 1
    const at = momentAt(record, 'timestamp') ?? momentOfMsAt(objectAt(record, 'message'), 'timestamp')
    this.#at = at ?? this.#at
    if (type === 'message') {
      this.#acceptMessage(record, objectAt(record, 'message') ?? {}, at)
      return
    }
    if (type === 'leaf') {
      const target = textAt(record, 'targetId')
      this.#tracker.place(MAIN, textAt(record, 'id'), target ?? undefined)
      return
    }
    const turn = this.#place(record)
    if (type === 'compaction') this.setup.tell({ kind: 'mark', turn, mark: 'compacted', at })
    else if (type === 'session_info') this.#news.report({ title: textAt(record, 'name') })
    else if (!QUIET.has(type) && type !== 'usage') countUnknown(this.setup.counters, type)
    if (type === 'compaction' || type === 'usage') this.#tellUsage(record, record, turn, at)
  }

  finish(): void {
    this.#news.reportFirst({ id: this.#session })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(undefined)
  }

  save(): Saved {
    const [session, entries, headed] = [this.#session, this.#entries, this.#headed]
    return { session, tracker: this.#tracker.save(), news: this.#news.known, entries, headed }
  }

  /** The header may stand twice in files that pi repaired; the first one counts. */
  #acceptHeader(header: JsonObject): void {
    const id = header.id
    if (this.#headed) return
    this.#headed = true
    if (isSessionId(id)) this.#session = id
    this.#news.report({
      id: this.#session,
      cwd: textAt(header, 'cwd'),
      started_at: momentAt(header, 'timestamp'),
      version: header.version === undefined ? 'v1' : `v${header.version}`,
      origin: originOf(textAt(header, 'parentSession')),
    })
  }

  #acceptMessage(entry: JsonObject, message: JsonObject, at: Instant | undefined): void {
    const role = textAt(message, 'role') ?? '(none)'
    if (role === 'user') this.#beginTurn(entry, wordsOf(message), at)
    else if (role === 'assistant') this.#acceptReply(entry, message, at)
    else if (role === 'toolResult') this.#tellResult(entry, message, at)
    else {
      this.#place(entry)
      if (!QUIET_ROLES.has(role)) countUnknown(this.setup.counters, `message/${role}`)
    }
  }

  #beginTurn(entry: JsonObject, prompt: string, at: Instant | undefined): void {
    const { turn, follows } = this.#tracker.begin(MAIN, this.#idOf(entry), entryBefore(entry))
    const { copied } = this.#copied(at)
    this.setup.tell({ kind: 'turn', turn, follows, prompt: clip(prompt, CLIP.prompt), by: 'person', at, copied })
    const { origin } = this.#news.known
    if (copied && origin) this.#news.report({ origin: { ...origin, turn } })
  }

  #acceptReply(entry: JsonObject, message: JsonObject, at: Instant | undefined): void {
    const turn = this.#place(entry)
    const id = this.#idOf(entry)
    for (const [index, block] of listAt(message, 'content').entries()) {
      if (!isObject(block)) continue
      const text = block.type === 'text' ? textAt(block, 'text') : undefined
      const part = `${id}/${index}`
      if (text) this.setup.tell({ kind: 'said', turn, message: id, part, text: clip(text, CLIP.reply), at })
      const call = block.type === 'toolCall' ? textAt(block, 'id') : undefined
      if (!call) continue
      const name = textAt(block, 'name') ?? '(unknown)'
      this.setup.tell({ kind: 'tool-call', turn, call, name, arguments: argumentsOf(block.arguments), at })
    }
    this.#tellUsage(entry, message, turn, at)
    const stop = textAt(message, 'stopReason')
    if (stop === 'aborted') this.setup.tell({ kind: 'mark', turn, mark: 'aborted', at })
    else if (stop === 'error') this.#tellFailure(turn, textAt(message, 'errorMessage'), at)
    else if (stop && stop !== 'toolUse') this.setup.tell({ kind: 'mark', turn, mark: 'completed', at })
  }

  #tellFailure(turn: number, message: string | undefined, at: Instant | undefined): void {
    this.setup.tell({ kind: 'mark', turn, mark: 'failed', detail: clip(message ?? 'error', CLIP.result), at })
  }

  #tellResult(entry: JsonObject, message: JsonObject, at: Instant | undefined): void {
    const turn = this.#place(entry)
    const call = textAt(message, 'toolCallId')
    if (!call) return
    this.setup.tell({
      kind: 'tool-result',
      turn,
      call,
      result: clipResult(wordsOf(message), this.setup.options),
      success: message.isError !== true,
      at,
      duration_ms: numberAt(objectAt(message, 'details'), 'durationMs'),
    })
  }

  /** No tokens, no call: a reply that was mirrored from elsewhere, or given up before the model answered. */
  #tellUsage(entry: JsonObject, holder: JsonObject, turn: number, at: Instant | undefined): void {
    const counts = objectAt(holder, 'usage')
    if (!counts) return
    const oneHour = countAt(counts, 'cacheWrite1h')
    const cost = numberAt(objectAt(counts, 'cost'), 'total')
    const usage: UsageCall = {
      // Entry ids are short and a fork keeps them, so the time is part of the name.
      message_id: at ? `${this.#idOf(entry)}@${at}` : `${this.#session}/${this.#idOf(entry)}`,
      session: this.#session,
      model: textAt(holder, 'model') ?? 'unknown',
      ts: at ?? this.#at ?? this.#news.known.started_at ?? this.setup.log.modified_at,
      input_tokens: countAt(counts, 'input'),
      output_tokens: countAt(counts, 'output'),
      cache_read_tokens: countAt(counts, 'cacheRead'),
      cache_write_5m_tokens: Math.max(0, countAt(counts, 'cacheWrite') - oneHour),
      cache_write_1h_tokens: oneHour,
      web_search_requests: 0,
      ...(cost && cost > 0 ? { cost_usd: cost } : {}),
    }
    if (totalTokens(usage) === 0) return
    this.setup.tell({ kind: 'usage', turn, at, usage, ...this.#copied(at) })
  }

  /** A fork takes over entries as they are, and names its origin; the header is as old as the fork. */
  #copied(at: Instant | undefined): ReturnType<typeof copiedBefore> {
    return this.#news.known.origin ? copiedBefore(at, this.#news.known) : {}
  }

  #place(entry: JsonObject): number {
    return this.#tracker.place(MAIN, this.#idOf(entry), entryBefore(entry))
  }

  #idOf(entry: JsonObject): string {
    return textAt(entry, 'id') ?? `#${this.#entries}`
  }
}

function entryBefore(entry: JsonObject): string | null | undefined {
  if (entry.parentId === null) return null
  return textAt(entry, 'parentId')
}

function wordsOf(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content
  return listAt(message, 'content')
    .map((block) => {
      if (!isObject(block)) return ''
      return block.type === 'image' ? '[image]' : (textAt(block, 'text') ?? '')
    })
    .filter((text) => text !== '')
    .join('\n')
}
