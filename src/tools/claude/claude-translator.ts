import { type Instant, isSessionId, type SessionId } from '../../model/index.js'
import { isObject, type JsonObject, numberAt, objectAt, textAt } from '../json-value.js'
import { CLIP, clip } from '../log/clip.js'
import { countUnknown } from '../log/counters.js'
import type { Checkpoint, SessionNews } from '../log/fact.js'
import type { Translator, TranslatorSetup } from '../log/jsonl-log.js'
import { idFromName } from '../log/log-files.js'
import { momentAt } from '../log/moment.js'
import { SessionReporter } from '../log/session-news.js'
import { MAIN, type SavedTracker, TurnTracker } from '../log/turn-tracker.js'
import { isCutOff, isFiller, type Prompt, readUserLine } from './claude-prompt.js'
import { ClaudeReplies, type Place, type SavedReplies } from './claude-replies.js'

/** Kept by the program for itself: nothing in them is about what was said, done or paid. */
const PASSED_OVER = new Set(
  (
    'queue-operation mode permission-mode file-history-snapshot file-history-delta tools-used atis-latch tag pr-link ' +
    'api-request-shape api-request-blob worktree-state content-replacement bridge-session agent-color ' +
    'agent-setting attribution-snapshot speculation-accept marble-origami-commit marble-origami-snapshot'
  ).split(' '),
)
const SYSTEM_LINES = new Set(
  (
    'stop_hook_summary turn_duration compact_boundary microcompact_boundary local_command api_error informational ' +
    'bridge_status away_summary memory_saved agents_killed permission_retry scheduled_task_fire api_metrics file_snapshot thinking'
  ).split(' '),
)
/** Titles by how much they are worth: what a person chose, what the model found, what an old version summed up. */
const TITLE_WORTH: Readonly<Record<string, number>> = { 'custom-title': 3, 'ai-title': 2, summary: 1 }

interface Saved {
  session?: SessionId
  tracker: SavedTracker
  news: SessionNews
  titleWorth: number
  pointer?: string | undefined
  command?: Command | undefined
  prompt?: OpenPrompt | undefined
  replies: SavedReplies
}
interface Command {
  text: string
  at: Instant | undefined
}
/** The prompt that nothing has answered yet: prompts queued behind it are sent with it and are one turn. */
interface OpenPrompt {
  node: string
  turn: number
  follows: number
  text: string
  at: Instant | undefined
  copied?: true | undefined
}

/** Claude Code's session lines, 1.0 to 2.1: a tree by uuid and parentUuid, one line per content block. */
export class ClaudeTranslator implements Translator {
  #session: SessionId | undefined
  #tracker: TurnTracker
  #news: SessionReporter
  #titleWorth: number
  /** The entry the program says it would go on from. */
  #pointer: string | undefined
  #command: Command | undefined
  #prompt: OpenPrompt | undefined
  #replies: ClaudeReplies
  #at: Instant | undefined

  constructor(
    private readonly setup: TranslatorSetup,
    /** For a sub-agent: the call that started it. */
    private readonly spawningCall?: string,
  ) {
    const saved = setup.saved as unknown as Saved | undefined
    this.#session = saved?.session ?? setup.log.session
    this.#tracker = new TurnTracker(setup.counters, saved?.tracker)
    this.#news = new SessionReporter(setup.tell, saved?.news)
    this.#titleWorth = saved?.titleWorth ?? 0
    this.#pointer = saved?.pointer
    this.#command = saved?.command
    this.#prompt = saved?.prompt
    this.#replies = new ClaudeReplies(setup, saved?.replies)
    if (this.#session) this.#reportId(this.#session)
  }

  accept(record: JsonObject): void {
    const type = textAt(record, 'type') ?? '(none)'
    if (type === 'user' || type === 'assistant' || type === 'system' || type === 'attachment' || type === 'progress') {
      this.#acceptEntry(type, record)
    } else if (type === 'api-request') {
      this.#replies.acceptRequest(momentAt(record, 'timestamp'))
    } else if (type === 'last-prompt') {
      this.#pointer = textAt(record, 'leafUuid')
    } else if (type === 'cost-state') {
      const cost_usd = numberAt(record, 'totalCostUSD')
      if (cost_usd !== undefined) this.setup.tell({ kind: 'reported-cost', cost_usd, at: this.#at })
    } else if (type === 'custom-title' || type === 'ai-title' || type === 'summary') {
      this.#acceptTitle(type, record)
    } else if (type !== 'agent-name' && !PASSED_OVER.has(type)) {
      countUnknown(this.setup.counters, type)
    }
  }

  finish(): void {
    if (!this.setup.log.agent) this.#news.reportFirst({ id: this.#session ?? idFromName(this.setup.log.path) })
  }

  head(): Checkpoint['head'] {
    return this.#tracker.head(this.#pointer)
  }

  /** Which turn of the conversation an entry was put into. */
  turnOf(uuid: string): number | undefined {
    return this.#tracker.turnOf(MAIN, uuid)
  }

  save(): Saved {
    return {
      ...(this.#session ? { session: this.#session } : {}),
      tracker: this.#tracker.save(),
      news: this.#news.known,
      titleWorth: this.#titleWorth,
      pointer: this.#pointer,
      command: this.#command,
      prompt: this.#prompt && { ...this.#prompt, text: clip(this.#prompt.text, CLIP.prompt) },
      replies: this.#replies.save(),
    }
  }

  get #owner(): SessionId {
    return this.#session ?? idFromName(this.setup.log.path)
  }

  #acceptEntry(type: string, record: JsonObject): void {
    const id = record.sessionId
    if (!this.#session && isSessionId(id)) {
      this.#session = id
      this.#reportId(id)
    }
    const at = momentAt(record, 'timestamp')
    this.#at = at ?? this.#at
    this.#noteSurroundings(record, at)
    if (type === 'user') this.#acceptUser(record, at)
    else if (type === 'assistant') this.#acceptAssistant(record, at)
    else if (type === 'system') this.#acceptSystem(record, at)
    else if (type === 'progress') this.#replies.acceptProgress(record, this.#inTurn(record, at), this.#owner)
    else this.#place(record)
  }

  /** Every line repeats them, so that they are compared before anything is made of them. */
  #noteSurroundings(record: JsonObject, at: Instant | undefined): void {
    const { known } = this.#news
    if (known.cwd === undefined || known.started_at === undefined || known.root === undefined) {
      this.#news.reportFirst({ cwd: textAt(record, 'cwd'), started_at: at, root: textAt(record, 'uuid') })
    }
    if (record.gitBranch === known.branch && record.version === known.version) return
    this.#news.report({ branch: textAt(record, 'gitBranch'), version: textAt(record, 'version') })
  }

  #acceptUser(record: JsonObject, at: Instant | undefined): void {
    const line = readUserLine(record)
    if (line.kind === 'prompt') {
      this.#command = undefined
      this.#beginTurn(record, line, at)
      return
    }
    const place = this.#inTurn(record, at)
    this.#replies.acceptResults(record, place)
    if (line.kind === 'interrupted' || isCutOff(record)) this.setup.tell({ kind: 'mark', ...place, mark: 'aborted' })
    else if (line.kind === 'command-output') this.#command = undefined
    else if (line.kind === 'command') {
      this.#command = { text: line.text, at }
      if (line.text === '/clear' && this.#tracker.turns(MAIN) === 0) this.#news.reportFirst({ begun_by: 'clear' })
    }
  }

  #beginTurn(record: JsonObject, { text, by }: Prompt, at: Instant | undefined): void {
    const lane = this.#lane(record)
    const node = textAt(record, 'uuid')
    const open = this.#prompt
    if (by === 'queue' && open && record.parentUuid === open.node) {
      this.#tracker.place(lane, node, open.node)
      this.#prompt = { ...open, node: node ?? open.node, text: `${open.text}\n${text}` }
      const { turn, follows, copied } = open
      const prompt = clip(this.#prompt.text, CLIP.prompt)
      this.setup.tell({ kind: 'turn', turn, follows, prompt, by, at: open.at, copied })
      return
    }
    const { turn, follows } = this.#tracker.begin(lane, node, entryBefore(record))
    const copied = copiedIn(record)
    this.setup.tell({
      kind: 'turn',
      agent: lane || undefined,
      turn,
      follows,
      prompt: clip(text, CLIP.prompt),
      by,
      at,
      copied,
      spawned_by: lane === MAIN ? undefined : (textAt(record, 'parentToolUseId') ?? this.#spawningCall(text)),
    })
    if (lane !== MAIN) return
    this.#prompt = { node: node ?? '', turn, follows, text, at, copied }
    if (copied) this.#reportOrigin(objectAt(record, 'forkedFrom'), turn)
  }

  #acceptAssistant(record: JsonObject, at: Instant | undefined): void {
    const lane = this.#lane(record)
    if (lane === MAIN) this.#prompt = undefined
    if (isFiller(record)) {
      this.#place(record)
      return
    }
    const isReply = lane === MAIN && record.isApiErrorMessage !== true
    const place = isReply && this.#command ? this.#beginCommand(this.#command, record, at) : this.#inTurn(record, at)
    this.#replies.accept(record, place, this.#owner)
  }

  /** The model answers a slash command: so it was a prompt. */
  #beginCommand(command: Command, record: JsonObject, at: Instant | undefined): Place {
    this.#command = undefined
    const { turn, follows } = this.#tracker.begin(MAIN, textAt(record, 'uuid'), entryBefore(record))
    const prompt = clip(command.text, CLIP.prompt)
    const copied = copiedIn(record)
    this.setup.tell({ kind: 'turn', turn, follows, prompt, by: 'person', at: command.at ?? at, copied })
    if (copied) this.#reportOrigin(objectAt(record, 'forkedFrom'), turn)
    return { turn, at }
  }

  #acceptSystem(record: JsonObject, at: Instant | undefined): void {
    const subtype = textAt(record, 'subtype') ?? '(none)'
    if (subtype === 'compact_boundary') {
      // Compaction begins a new root; `logicalParentUuid` says what it really follows, and may name a line that is gone.
      const after = textAt(record, 'parentUuid') ?? textAt(record, 'logicalParentUuid')
      const lane = this.#lane(record)
      const turn = this.#tracker.place(lane, textAt(record, 'uuid'), after, { mayBeGone: true })
      const detail = textAt(objectAt(record, 'compactMetadata'), 'trigger')
      this.setup.tell({ kind: 'mark', agent: lane || undefined, turn, mark: 'compacted', detail, at })
      return
    }
    if (!SYSTEM_LINES.has(subtype)) countUnknown(this.setup.counters, `system/${subtype}`)
    const place = this.#inTurn(record, at)
    if (subtype !== 'turn_duration') return
    this.setup.tell({ kind: 'mark', ...place, mark: 'timed', duration_ms: numberAt(record, 'durationMs') })
  }

  #acceptTitle(type: string, record: JsonObject): void {
    const worth = TITLE_WORTH[type] ?? 0
    const title = textAt(record, 'customTitle') ?? textAt(record, 'aiTitle') ?? textAt(record, 'summary')
    if (!title || worth < this.#titleWorth) return
    // 2.0.x puts summaries of the project's other sessions at the top of a file.
    const leaf = textAt(record, 'leafUuid')
    if (type === 'summary' && (!leaf || this.#tracker.turnOf(MAIN, leaf) === undefined)) return
    this.#titleWorth = worth
    this.#news.report({ title: clip(title, 500) })
  }

  #reportId(id: SessionId): void {
    const { agent } = this.setup.log
    this.#news.report(agent ? { spawner: { session: id, agent, call: this.spawningCall } } : { id })
  }

  #reportOrigin(forkedFrom: JsonObject | undefined, turn: number): void {
    const session = forkedFrom?.sessionId
    if (isSessionId(session) && session !== this.#session) this.#news.report({ origin: { session, turn } })
  }

  /** Sub-agents have files of their own since 2.0; before, their lines stood between the others. */
  #lane(record: JsonObject): string {
    if (this.setup.log.agent) return this.setup.log.agent
    if (record.isSidechain !== true) return MAIN
    return textAt(record, 'agentId') ?? 'sidechain'
  }

  #spawningCall(prompt: string): string | undefined {
    return this.spawningCall ?? this.#replies.callWithPrompt(prompt)
  }

  #place(record: JsonObject): number {
    return this.#tracker.place(this.#lane(record), textAt(record, 'uuid'), entryBefore(record))
  }

  #inTurn(record: JsonObject, at: Instant | undefined): Place {
    const turn = this.#place(record)
    return { agent: this.#lane(record) || undefined, turn, at }
  }
}

/** A line without the field is from no tree: it follows the line before. */
function entryBefore(record: JsonObject): string | null | undefined {
  if (record.uuid === undefined) return undefined
  const parent = record.parentUuid
  return typeof parent === 'string' && parent !== '' ? parent : null
}

const copiedIn = (record: JsonObject): true | undefined => isObject(record.forkedFrom) || undefined
