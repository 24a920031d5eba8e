import type { SessionPage, SessionQuery, Spent } from '../index/index.js'
import type { CostGroup, CostReport, HistoryCounts, PriceBook, TextHit } from '../ingest/index.js'
import type { FeedEntry } from '../journal/index.js'
import type {
  Agent,
  Event,
  EventId,
  ForkOrigin,
  Group,
  Instant,
  Link,
  Outcome,
  Session,
  SessionFacts,
  Step,
  Visibility,
} from '../model/index.js'
import type { Environment, LoggedSession, Runners } from '../tools/index.js'
import type { ArchiveBook } from './archive-api.js'
import type { When } from './moments.js'
import type { ProfilePaths } from './paths.js'
import type { Privacy } from './privacy-api.js'

/** One profile of a Skein home, open. Everything the command line does is done through this. */
export interface Home extends AsyncDisposable {
  readonly profile: string
  /** The profile's directory. */
  readonly directory: string
  /** Where running agents keep what must outlive them. */
  readonly paths: Pick<ProfilePaths, 'agents' | 'spool'>
  readonly sessions: Sessions
  readonly roster: RosterBook
  readonly events: Events
  readonly index: IndexCare
  readonly history: History
  readonly privacy: Privacy
  readonly archive: ArchiveBook
  readonly programs: Programs
}

/** The agent programs that can be run from here. */
export interface Programs {
  /** Ours and those of the configuration. Throws `bad-config` where that cannot be understood. */
  runners(): Promise<Runners>
  /** Where those programs keep their things. */
  environment(): Promise<Environment>
}

export interface StartOptions extends Omit<SessionFacts, 'agent' | 'agent_id'> {
  /** The tool's own id; one is made up when it is not known yet. */
  id?: string
  agent?: string
  /** The session this one continues, and why. */
  parent_id?: string
  link?: Link
  /** Begin at a past turn of another session: a chain of its own. */
  forked_from?: Omit<ForkOrigin, 'session'> & { session: string }
  started_at?: Instant
  /** Open an ended session again under its own id. */
  resume?: boolean
  /** It may be known already, from a log: then what is said here is added where nothing was known. */
  mayExist?: boolean
}

export interface Sessions {
  start(options: StartOptions): Promise<Session>
  end(id: string, options: { outcome: Outcome; reason?: string; ended_at?: Instant }): Promise<Session>
  /** Ends a session and starts its successor as one fact; returns the successor. */
  handoff(id: string, options: StartOptions & { subject?: string; message?: string }): Promise<Session>
  update(id: string, facts: Omit<SessionFacts, 'agent' | 'agent_id'>): Promise<Session>
  step(id: string, step: StepOptions): Promise<Session>
  get(id: string): Promise<Session | undefined>
  /** By id, unique prefix, or an agent that is in it; throws `session-not-found` or `ambiguous-id`. */
  find(reference: string): Promise<Session>
  /** Beginnings of these ids that name one session each, short enough for people to read and type. */
  shortIds(ids: readonly string[]): Promise<Map<string, string>>
  query(query: SessionFilter): Promise<SessionPage>
  /** The chains of a session (as in `find`), of a chain id, or of a work unit. */
  chain(reference: string): Promise<Chain[]>
  /** The whole lineage a session belongs to: from its first ancestor, with continuations and forks. */
  tree(reference: string): Promise<SessionTree>
  /** Packs sessions that ended long ago into compressed files. Nothing is deleted. */
  archive(options?: { olderThanDays?: number }): Promise<{ archived: number }>
}

/** As in `SessionQuery`, with moments as the command line takes them and any name of an agent. */
export type SessionFilter = Omit<SessionQuery, 'since' | 'until' | 'directories'> & {
  since?: When
  until?: When
  /** Only sessions that work in this directory, or below. An absolute path. */
  directory?: string
}

export interface StepOptions {
  step_ref: string
  molecule_id?: string
  state: 'started' | 'completed'
  /** With `completed`; true unless said otherwise. */
  success?: boolean
}

export interface Chain {
  chain_id: string
  work_units: string[]
  sessions: Session[]
  started_at: Instant
  /** Absent while a session of the chain is active. */
  ended_at?: Instant
  /** Time in sessions, summed; an active one counts up to now. */
  duration_ms: number
}

export interface SessionTree {
  session: Session
  /** The session that continues it, if any, and the ones forked from it. */
  continued_by?: SessionTree
  forks: SessionTree[]
}

export interface AddAgentOptions {
  address: string
  title?: string
  tool: string
  command?: string
  project_path?: string
  role?: string
  /** Address or id of the spawner. */
  parent?: string
  loaded_mcp_names?: string[]
}

/**
 * Wherever an agent is asked for, it is named by its address, a unique end of it, a unique title, a unique beginning of its id
 * or of its session's id, or `.` for the one that works in the current directory.
 */
export interface RosterBook {
  add(options: AddAgentOptions): Promise<Agent>
  agents(filter?: { group?: string; tool?: string; role?: string }): Promise<Agent[]>
  /** Throws `agent-not-found`, with the nearest address as a hint, or `ambiguous-id`, with the candidates. */
  agent(reference: string): Promise<Agent>
  update(reference: string, facts: Partial<Omit<AddAgentOptions, 'address' | 'parent'>>): Promise<Agent>
  /** A new name in the same group. */
  rename(reference: string, name: string): Promise<Agent>
  /** Into another group; undefined moves it to the top. */
  move(reference: string, group: string | undefined): Promise<Agent>
  remove(reference: string): Promise<Agent>
  /** Puts an agent that was removed back as it was, under its own id. */
  restore(agent: Agent): Promise<Agent>
  setParent(reference: string, parent: string | undefined): Promise<Agent>
  groups(): Promise<Group[]>
  createGroup(path: string): Promise<Group>
  /** A new last segment, or a whole new path; agents and sub-groups come along. */
  renameGroup(path: string, to: string): Promise<Group>
  /** Refused while agents are in it or below, unless they are moved. Returns how many moved. */
  deleteGroup(path: string, options?: { moveTo?: string }): Promise<{ moved: number }>
}

export interface EventFilter {
  /** Exact type or a pattern with `*`. */
  type?: string
  session?: string
  agent?: string
  actor?: string
  since?: When
  until?: When
  /** Only events for the activity stream. */
  feed?: boolean
}

export interface NewEvent {
  type: string
  session?: string
  agent?: string
  payload?: Record<string, unknown>
  visibility?: Visibility
  ts?: Instant
}

export interface Events {
  /** Appends a fact that changes no state (mail, nudge, hook ...). Types that change state are refused: use `sessions` and `roster`. */
  append(event: NewEvent): Promise<Event>
  /** Oldest first. `last` keeps only the newest that match. */
  read(filter?: EventFilter & { last?: number }): Promise<Event[]>
  /** Follows the journal, beginning with the newest `last` events, or with all that came after one; ends when the signal aborts. */
  tail(options: EventFilter & { last?: number; after?: EventId; signal?: AbortSignal }): AsyncIterable<Event>
  /** The id of the newest event: "everything up to now". Undefined in an empty journal. */
  lastId(): Promise<EventId | undefined>
  /** The activity stream: repeated news once, bursts in one line. `last` counts events. */
  feed(filter?: EventFilter & { last?: number }): Promise<FeedEntry[]>
  stats(): Promise<EventStats>
  /** The worth of what is kept, per type. */
  decay(): Promise<TypeDecay[]>
  prune(options?: { dryRun?: boolean; auto?: boolean }): Promise<PruneReport>
  policy(): Promise<PolicyReport>
  /** `pattern` is a type, a pattern, or `default`. Written to the user's config file, the rest of which stays as it is. */
  setTtl(pattern: string, ttl: string): Promise<PolicyReport>
  resetTtls(): Promise<PolicyReport>
}

export interface EventStats {
  events: number
  bytes: number
  segments: number
  /** Lines that could not be read as events, and events of types this version does not know: kept, not counted above. */
  unreadable_lines: number
  unknown_types: number
  by_type: Record<string, number>
  by_age: { '0-1d': number; '1-7d': number; '7-30d': number; '30d+': number }
  /** Not expired, but worth less than a quarter. */
  at_risk: number
  expired: number
  oldest_event?: Instant
  newest_event?: Instant
  auto_prune: { last_prune_time?: Instant; prune_count: number; total_pruned: number; total_bytes_freed: number }
}

export interface TypeDecay {
  type: string
  ttl: string
  curve: string
  events: number
  average_worth: number
  lowest_worth: number
  at_risk: number
  expired: number
}

export interface PruneReport {
  dry_run: boolean
  /** True when an automatic run was not due yet. */
  skipped: boolean
  pruned: number
  kept: number
  bytes_freed: number
  by_type: Record<string, number>
  /** Expired, but kept: among the newest `min_retain`, or not yet safe in a checkpoint. */
  retained: number
  archived_sessions: number
}

export interface PolicyReport {
  default_ttl: string
  min_retain: number
  prune_interval: string
  ttls: Record<string, string>
  /** Where settings are read from; it need not exist. */
  config_file: string
}

export interface IndexCare {
  rebuild(): Promise<{ events: number; sessions: number; agents: number; duration_ms: number }>
  check(): Promise<IndexCheck>
}

export interface IndexCheck {
  ok: boolean
  events: number
  sessions: number
  agents: number
  unreadable_lines: number
  /** One line each: what differs from a fresh rebuild. At most 20. */
  problems: string[]
}

export interface IngestOptions {
  /** Only the logs of this tool. */
  tool?: string
  /** Only the logs of this session. */
  session?: string
  /** Only logs that changed since then. */
  since?: When
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
  /** Finds what was said in any session whose log was ingested, also when the tool has deleted it since. */
  search(options: SearchOptions): Promise<SearchReport>
  cost(options?: CostOptions): Promise<CostReport>
  /** What a call of a model costs, by the published list and the user's own prices. */
  prices(): Promise<Prices>
  /** What these sessions have cost, as far as their logs were ingested. */
  spent(sessions: readonly string[]): Promise<Map<string, Spent>>
  counts(session: string): Promise<HistoryCounts>
}

export interface TurnsOptions {
  /** As the log has it, secrets included. For programs that filter it themselves, and for a person's own screen. */
  verbatim?: boolean
}

export interface SessionHistory extends LoggedSession {
  session: Session
  /** False when the log is gone. */
  from_log: boolean
  /** `archive`: the log is gone or was cut, and this is what was kept of it, filtered. `counts`: there are no words, only what was counted. */
  told_from: 'log' | 'archive' | 'counts'
  /** What the log said before it was rewritten and lost some of it: so many versions are in the archive. */
  older_versions: number
  /** The session's steps with the turns they cover, whole or in part. */
  steps: (Step & { turns: number[] })[]
}
