import type { Spent } from '../index/index.js'
import type { CostGroup, CostReport, HistoryCounts, PriceBook, TextHit } from '../ingest/index.js'
import type { BudgetSpent, Event, Instant, Session, SessionId, Step } from '../model/index.js'
import type { Snapshot } from '../snapshots/index.js'
import type { When } from '../store/index.js'
import type { Fact, LoggedSession } from '../tools/index.js'
import type { Bisection, BisectRequest } from './bisect/bisect.js'
import type { Blame } from './blame.js'
import type { CodedTurn } from './coded-turns.js'
import type { Explained } from './explain.js'
import type { ReportedCall } from './reported-calls.js'
import type { SessionCode } from './turn-code.js'

export interface IngestOptions {
  /** Only the logs of this tool. */
  tool?: string
  /** Only the logs of this session. */
  session?: string
  /** Only logs that changed since then. */
  since?: When
  /** Also the logs below these directories, by tool. */
  roots?: Readonly<Record<string, readonly string[]>>
  /** False leaves the words for later: turns, tool calls and cost only, in half the time. */
  words?: boolean
  /** Also a session that was purged; only with `session`. */
  force?: boolean
  signal?: AbortSignal
}

export interface IngestReport {
  /** Logs there are, and those of them that had something new. */
  logs: number
  read: number
  bytes: number
  turns: number
  tool_calls: number
  /** Sessions that Skein did not know before. */
  sessions_found: number
  /** Logs whose text was kept under a policy that no longer holds: `skein privacy apply`. */
  outdated_logs: number
  /** Logs that could not be opened and directories that could not be listed, with the system's reason. */
  unreadable: { path: string; reason: string }[]
}

export interface CostOptions {
  by?: CostGroup
  /** Only what this session has cost; an agent means its current session. */
  session?: string
  /** Only sessions that worked in this directory, or below. An absolute path. */
  directory?: string
  since?: When
  until?: When
  /** Read every log from its beginning instead of using what was ingested. */
  noIndex?: boolean
  /** Only calls of these sessions in these times. */
  spans?: readonly CostSpan[]
}

export interface CostSpan {
  session: SessionId
  since: Instant
  until?: Instant
}

/** Prices calls of models; undefined means that the price is not known, which is not the same as free. */
export type Prices = Pick<PriceBook, 'priceOf'>

export interface SearchOptions {
  /** Words that all must be there, "phrases", beginnings*, and identifiers such as `read_file` or `src/home/api.ts`. */
  text: string
  /** Only in what was asked, in what was answered, or in calls of tools and their results. */
  in?: 'prompts' | 'replies' | 'tools'
  /** The program whose log it is (`claude`), or the tool that was called (`Bash`). */
  tool?: string
  /** Only sessions of this agent. */
  agent?: string
  /** Only sessions of agents in this group and below it. */
  group?: string
  /** Only sessions that worked in this directory, or below. An absolute path. */
  directory?: string
  since?: When
  /** 20 unless said otherwise. */
  limit?: number
}

export interface SearchReport {
  /** The newest day first; within a day the most fitting first. */
  hits: SearchHit[]
  has_more: boolean
  /** False when a phrase of very frequent words was not looked for in the oldest text. */
  is_complete: boolean
  /** False when no text was ever ingested here. */
  is_ingested: boolean
  /** When nothing was found: so many older versions of logs that were rewritten are in the archive, and not searched. */
  older_versions: number
  /** Some of the text was kept under a policy that no longer holds: `skein privacy check`. */
  may_be_outdated: boolean
}

/** Which session a hit is in. */
export interface HitPlace {
  agent?: string
  title?: string
  cwd?: string
}

export interface SearchHit extends Omit<TextHit, 'path'>, HitPlace {
  /** Its tool has deleted the log: what is shown comes from the archive. */
  log_gone: boolean
  /** The command that shows the turn. */
  next: string
}

export interface WatchOptions extends Pick<IngestOptions, 'tool' | 'session' | 'since'> {
  signal: AbortSignal
  onReport?: (report: IngestReport) => void
  /** Watching can miss a change, so all logs are looked at this often as well. 15 s unless said otherwise. */
  lookAgainMs?: number
  /** Called with the path of a log before it is read, and again after each slice of it; with undefined when there is nothing to read. */
  onReading?: (path: string | undefined) => void
  /** Logs that are passed over. */
  isSetAside?: (path: string) => boolean
}

/** What the logs of the tools tell: turns, tool calls, tokens and money. */
export interface History {
  ingest(options?: IngestOptions): Promise<IngestReport>
  /** Reads what is new as it is written, until the signal aborts. The first report is the one of a full ingest. */
  watch(options: WatchOptions): Promise<void>
  /** Where the logs of the tools are looked for, whether anything is there or not. */
  roots(): Promise<{ tool: string; path: string }[]>
  /** The turns of a session with their words, read from its log now and filtered by the policy of its directory. */
  turns(reference: string, options?: TurnsOptions): Promise<SessionHistory>
  /** The turns of a session with the snapshots of their beginning and end; a turn without one lacks it. */
  codedTurns(reference: string, options?: Pick<TurnsOptions, 'readsNew'>): Promise<CodedTurn[]>
  /** Who wrote each line of a file of the user's, or one line of it. */
  blame(file: string, line?: number): Promise<Blame>
  /** Which sessions and turns went into a commit of the repository of a directory. */
  explain(directory: string, rev: string): Promise<Explained>
  /** The first turn of a session after which a command fails. */
  bisect(request: BisectRequest): Promise<Bisection>
  /** The same for a history that was read, with what each turn changed, and what changed between turns. */
  code(history: Pick<SessionHistory, 'session' | 'turns'>): Promise<SessionCode>
  /** Snapshots whose time is up, without those that a fork or a handoff refers to. */
  expiredSnapshots(nowMs: number): Promise<Snapshot[]>
  /** Records a tool call that a hook reported, filtered by the policy of the session's directory. The log's own record replaces it later. */
  logTool(session: string, call: ReportedCall): Promise<Event>
  /** Records a prompt that was sent to a program that writes no log, filtered as the words of a log are. */
  logPrompt(session: string, sent: { prompt: string; at: Instant }): Promise<Event>
  /**
   * Passes what a session's own log says (or the archive, when the log is gone) to `fold`, a fact at a time, so that memory does not grow
   * with the log. Undefined when there is neither. The facts of a log are unfiltered: what `fold` keeps has to pass `told.kept`.
   */
  facts<T>(session: string, fold: FactsFold<T>, options?: FactsOptions): Promise<T | undefined>
  /** Finds what was said in any session whose log was ingested, also when the tool has deleted it since. */
  search(options: SearchOptions): Promise<SearchReport>
  cost(options?: CostOptions): Promise<CostReport>
  /** What a call of a model costs, by the published list and the user's own prices. */
  prices(): Promise<Prices>
  /** What these sessions have cost, as far as their logs were ingested. */
  spent(sessions: readonly string[]): Promise<Map<string, Spent>>
  /** What the sessions of an agent (by its address), a group or a unit of work have cost, or all of them; `today` in local time alone. */
  spentWithin(scope: { agent?: string; group?: string; work?: string }, today: boolean): Promise<BudgetSpent>
  counts(session: string): Promise<HistoryCounts>
}

export interface TurnsOptions {
  /** As the log has it, secrets included. For programs that filter it themselves, and for a person's own screen. */
  verbatim?: boolean
  /** How many characters of a tool's result to read from the log; the archive has the usual beginning. */
  resultChars?: number
  /** A log that nobody has read yet is read and stored first: a person asked. */
  readsNew?: boolean
}

export interface SessionHistory extends LoggedSession {
  session: Session
  /** False when the log is gone. */
  from_log: boolean
  /**
   * `archive`: the log is gone or was cut, and this is what was kept of it, filtered. `counts`: there are no words, only what was counted.
   * `journal`: its program writes no log; this is what was seen of its turns.
   */
  told_from: 'log' | 'archive' | 'counts' | 'journal'
  /** What the log said before it was rewritten and lost some of it: so many versions are in the archive. */
  older_versions: number
  /** The session's steps with the turns they cover, whole or in part. */
  steps: (Step & { turns: number[] })[]
}

/** `journal`: its program writes no log, and these are the turns that were seen of it. */
export type FactsFrom = 'log' | 'archive' | 'journal'

/** Where the facts of a session come from, and what may be kept of them. */
export interface ToldFacts {
  from: FactsFrom
  /** The log is so long that only its beginning and its end were read. */
  isPart: boolean
  /** By the policy of the session's directory; undefined for what may not be kept at all. */
  kept(fact: Fact): Fact | undefined
}

/** `facts` may be read once, before `fold` returns. */
export type FactsFold<T> = (facts: Iterable<Fact>, told: ToldFacts) => T

export interface FactsOptions {
  /** Where its program says that the log is, for one that was never ingested. */
  log?: { tool: string; path: string }
  cwd?: string
  /** What has to be done before the log is read: a process that reads one does nothing else meanwhile. */
  after?: Promise<unknown>
}
