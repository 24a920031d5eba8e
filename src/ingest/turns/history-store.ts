// Over 400 lines: every statement about the rows of history.db is here, beside the transaction they share.
import { closeSync, openSync } from 'node:fs'
import { RowWriter, refuseForeign, type SqlValue } from '../../disk/index.js'
import type { Instant, SessionId } from '../../model/index.js'
import type { Counters, LogRef, Resume, SessionNews, TurnOutcome } from '../../tools/index.js'
import { LedgerStore, type LogNews } from '../ledger/ledger-store.js'
import { resumeText } from '../text/resume-text.js'
import { HISTORY_VERSION, makeHistoryIndexes, makeHistoryTables } from './history-schema.js'
import type { CountedRows, KnownRows, LogRows, ToolCallRow, TurnRow } from './log-rows.js'
import { partOf, type StoredPlace, stampsIn } from './stored-stamps.js'

/** How far a log was read, and when it is to be read again. */
export interface StoredLog {
  n: number
  stamp: string
  resume: string | null
}

/** A session as its own log describes it. */
export interface FoundSession {
  id: SessionId
  path: string
  tool: string
  news: SessionNews
  last_at: Instant | undefined
  /** How its last turn ended, where it has one. */
  last_turn: TurnOutcome | undefined
}

export interface HistoryCounts {
  turns: number
  /** Prompts and messages of the agent, without those of sub-agents. */
  messages: number
  tool_calls: number
  /** Lines of its logs that gave no record. */
  unread_lines: number
  /** Records of types that this version does not know. */
  unknown_records: number
}

/** One reading of one log, with where it started from. */
export interface LogReadingDone {
  log: LogRef
  from: StoredLog | undefined
  rows: LogRows
  /**
   * Whether the usage reader can go on from where this reading stopped. One that keeps another kind of place reads a log that has grown
   * since from its beginning once, which costs less than making that place for every log.
   */
  usageGoesOn: boolean
}

/** Turns, tool calls and the ledger of every log, in one file beside the index. */
export class HistoryStore implements Disposable {
  private constructor(readonly ledger: LedgerStore) {}

  static open(path: string): HistoryStore {
    refuseForeign(path)
    closeSync(openSync(path, 'a', 0o600)) // SQLite would make it readable to everyone
    const ledger = LedgerStore.open(path)
    try {
      if (ledger.fact('history') !== HISTORY_VERSION) {
        ledger.inTransaction(() => {
          if (ledger.fact('history') === HISTORY_VERSION) return // another process was quicker
          makeHistoryTables(ledger.database)
          ledger.setFact('history', HISTORY_VERSION)
        })
      }
      makeHistoryIndexes(ledger.database)
      return new HistoryStore(ledger)
    } catch (error) {
      ledger[Symbol.dispose]()
      throw error
    }
  }

  /** For a home that cannot be written to. Undefined when it is of another version, and so has nothing to tell. */
  static read(path: string): HistoryStore | undefined {
    const ledger = LedgerStore.read(path)
    try {
      if (ledger.fact('history') === HISTORY_VERSION) return new HistoryStore(ledger)
    } catch (error) {
      ledger[Symbol.dispose]()
      throw error
    }
    ledger[Symbol.dispose]()
    return undefined
  }

  /** Where each log is that was ever read. */
  places(): StoredPlace[] {
    return this.ledger.all('select path, part, tool, stamp from history_logs') as StoredPlace[]
  }

  /** As if these logs had never been read. What was spent stays known: it may be told by no log any more. */
  forget(logs: readonly { path: string; part: string }[]): void {
    this.ledger.inTransaction(() => {
      for (const { path, part } of logs) {
        const log = this.log(path, part)
        if (!log) continue
        for (const table of ['turns', 'tool_calls']) this.ledger.run(`delete from ${table} where log = ?`, log.n)
        this.ledger.run('delete from history_logs where n = ?', log.n)
      }
    })
  }

  /** The stamp that each log had when it was read last. One query for all, since most runs find most logs unchanged. */
  stamps(): Map<string, string> {
    return stampsIn(this.ledger, 'history_logs')
  }

  log(path: string, part: string): StoredLog | undefined {
    return this.ledger.get('select n, stamp, resume from history_logs where path = ? and part = ?', path, part) as
      | StoredLog
      | undefined
  }

  /** What a log said of its session so far. */
  newsOf({ n }: StoredLog): SessionNews {
    const row = this.ledger.get('select news from history_logs where n = ?', n) as { news: string } | undefined
    return row ? (JSON.parse(row.news) as SessionNews) : {}
  }

  knownRows({ n }: StoredLog): KnownRows {
    return {
      turn: (agent, turn) =>
        this.ledger.get(
          `select ${TURN_COLUMNS.join(', ')} from turns where log = ? and agent = ? and turn = ?`,
          n,
          agent,
          turn,
        ) as TurnRow | undefined,
      call: (id) =>
        this.ledger.get(`select ${CALL_COLUMNS.join(', ')} from tool_calls where log = ? and call = ?`, n, id) as
          | ToolCallRow
          | undefined,
    }
  }

  /** The turns and calls of one log; undefined when it was never read. */
  rowsOf(path: string, part: string): CountedRows | undefined {
    const log = this.log(path, part)
    if (!log) return undefined
    const turns = this.ledger.all(`select ${TURN_COLUMNS.join(', ')} from turns where log = ?`, log.n) as TurnRow[]
    const calls = this.ledger.all(`select ${CALL_COLUMNS.join(', ')} from tool_calls where log = ?`, log.n)
    return { turns, calls: calls as ToolCallRow[] }
  }

  /** All of it or nothing. A reading that another process has overtaken meanwhile is dropped: that one knows more. */
  record(readings: readonly LogReadingDone[], generation = 0): void {
    this.ledger.inTransaction(() => {
      if (!this.admits(generation)) return
      const into = {
        turns: new RowWriter(this.ledger, 'turns', ['log', ...TURN_COLUMNS]),
        calls: new RowWriter(this.ledger, 'tool_calls', ['log', ...CALL_COLUMNS]),
      }
      const taken = readings.filter((reading) => this.#recordOne(reading, into))
      into.turns.flush()
      into.calls.flush()
      this.ledger.fold(taken.map(ledgerNews))
    })
  }

  /** Whether nothing was purged since this purge. From now on nothing that was read before it is stored. */
  admits(generation: number): boolean {
    const known = Number(this.ledger.fact('purges') ?? 0)
    if (generation > known) this.ledger.setFact('purges', String(generation))
    return generation >= known
  }

  /** Sessions whose own logs were read and that are not in the journal yet. A session in which nothing was said is left out. */
  unannounced(limit: number): (FoundSession & { log: number })[] {
    const sql = `select ${FOUND} from history_logs
      where announced = 0 and session is not null and agent is null and last_at is not null limit ?`
    return this.ledger.all(sql, limit).map((row) => foundSession(row as FoundRow))
  }

  /** What the own logs of these sessions say, as far as they were read. */
  foundAgain(sessions: readonly SessionId[]): FoundSession[] {
    const sql = `select ${FOUND} from history_logs where agent is null and last_at is not null
      and session in (select value from json_each(?))`
    return this.ledger.all(sql, JSON.stringify(sessions)).map((row) => foundSession(row as FoundRow))
  }

  markAnnounced(logs: readonly number[]): void {
    this.ledger.inTransaction(() => {
      for (const n of logs) this.ledger.run('update history_logs set announced = 1 where n = ?', n)
    })
  }

  /** The logs of a session, its own first. Where a session has several of its own (a copy), the newest counts. */
  logsOf(session: SessionId): { path: string; part: string; tool: string; agent: string | null }[] {
    return this.ledger.all(
      'select path, part, tool, agent from history_logs where session = ? order by agent is not null, last_at desc',
      session,
    ) as {
      path: string
      part: string
      tool: string
      agent: string | null
    }[]
  }

  /** Of some sessions, those whose logs begin with the same entry as another session's. */
  copied(sessions: readonly FoundSession[]): Set<SessionId> {
    const roots = sessions.flatMap(({ news }) => news.root ?? [])
    const sql = `select json_extract(news, '$.root') as root from history_logs where agent is null
      and json_extract(news, '$.root') in (select value from json_each(?)) group by root having min(session) < max(session)`
    const rows = this.ledger.all(sql, JSON.stringify(roots)) as { root: string }[]
    const shared = new Set(rows.map(({ root }) => root))
    return new Set(sessions.flatMap(({ id, news }) => (news.root !== undefined && shared.has(news.root) ? id : [])))
  }

  /** The logs of other sessions that begin with the same entry. */
  copiesOf({ id, tool, news }: FoundSession): { path: string; session: SessionId }[] {
    const sql = `select path, session from history_logs
      where agent is null and json_extract(news, '$.root') = ? and tool = ? and session <> ? limit ?`
    return news.root === undefined
      ? []
      : (this.ledger.all(sql, news.root, tool, id, MOST_COPIES) as { path: string; session: SessionId }[])
  }

  /** Sessions, already recorded, that begin with the same entry as one of these. */
  companions(sessions: readonly FoundSession[]): FoundSession[] {
    const roots = sessions.flatMap(({ news }) => news.root ?? [])
    if (roots.length === 0) return []
    const sql = `select ${FOUND} from history_logs where agent is null and announced = 1 and session is not null
      and last_at is not null and json_extract(news, '$.root') in (select value from json_each(?))`
    return this.ledger.all(sql, JSON.stringify(roots)).map((row) => foundSession(row as FoundRow))
  }

  /** Logs that were read while another log with a part of their history was not there. */
  lackingHistory(): { path: string; part: string; tool: string }[] {
    const sql = `select path, part, tool from history_logs where json_extract(counters, '$.missing_origins') > 0`
    return this.ledger.all(sql) as { path: string; part: string; tool: string }[]
  }

  /** Logs of these tools that do not say where their session worked. */
  withoutDirectory(
    tools: readonly string[],
  ): { path: string; part: string; tool: string; session: SessionId | null }[] {
    const sql = `select path, part, tool, session from history_logs
      where tool in (select value from json_each(?)) and json_extract(news, '$.cwd') is null`
    return this.ledger.all(sql, JSON.stringify(tools)) as ReturnType<HistoryStore['withoutDirectory']>
  }

  counts(session: SessionId): HistoryCounts {
    const sql = `select (select count(distinct t.turn) from turns t join history_logs l on l.n = t.log where l.session = ?1 and t.agent = '' and t.turn > 0) as turns,
      (select coalesce(sum(replies), 0) from (select max(t.messages) as replies from turns t join history_logs l on l.n = t.log
        where l.session = ?1 and t.agent = '' group by t.turn)) as replies,
      (select count(distinct c.call) from tool_calls c join history_logs l on l.n = c.log where l.session = ?1) as tool_calls`
    const { turns, replies, tool_calls } = this.ledger.get(sql, session) as HistoryCounts & { replies: number }
    return { turns, messages: turns + replies, tool_calls, ...this.#notUnderstood(session) }
  }

  #notUnderstood(session: SessionId): Pick<HistoryCounts, 'unread_lines' | 'unknown_records'> {
    const rows = this.ledger.all('select counters from history_logs where session = ?', session) as {
      counters: string
    }[]
    let [unread_lines, unknown_records] = [0, 0]
    for (const row of rows) {
      const { bad_lines = 0, dropped_lines = 0, unknown_types = {} } = JSON.parse(row.counters) as Partial<Counters>
      unread_lines += bad_lines + dropped_lines
      unknown_records += Object.values(unknown_types).reduce((sum, count) => sum + count, 0)
    }
    return { unread_lines, unknown_records }
  }

  turnRows(session: SessionId): TurnRow[] {
    return this.ledger.all(
      `select ${TURN_COLUMNS.map((name) => `t.${name}`).join(', ')} from turns t join history_logs l on l.n = t.log where l.session = ? order by t.agent, t.turn`,
      session,
    ) as TurnRow[]
  }

  callRows(session: SessionId): ToolCallRow[] {
    return this.ledger.all(
      `select ${CALL_COLUMNS.map((name) => `c.${name}`).join(', ')} from tool_calls c join history_logs l on l.n = c.log where l.session = ? order by c.started_at, c.turn`,
      session,
    ) as ToolCallRow[]
  }

  /** Removes turns, calls and places of a session, not what it spent. Returns how many rows. */
  drop(session: SessionId): number {
    return this.ledger.inTransaction(() => {
      const ofSession = 'select n from history_logs where session = ?'
      let rows = 0
      for (const table of ['turns', 'tool_calls'])
        rows += Number(this.ledger.run(`delete from ${table} where log in (${ofSession})`, session))
      const logs = 'select path from history_logs where session = ?'
      this.ledger.run(`update ledger_logs set carry = null where path in (${logs})`, session)
      return rows + Number(this.ledger.run('delete from history_logs where session = ?', session))
    })
  }

  /** Which turns of a log were not begun by a person or a program, but by the tool's own notices. */
  noticesOf(path: string, part: string): (agent: string, turn: number) => boolean {
    const rows = this.ledger.all(
      "select t.agent, t.turn from turns t join history_logs l on l.n = t.log where l.path = ? and l.part = ? and t.asked_by = 'tool'",
      path,
      part,
    ) as { agent: string; turn: number }[]
    const notices = new Set(rows.map(({ agent, turn }) => `${turn} ${agent}`))
    return (agent, turn) => notices.has(`${turn} ${agent}`)
  }

  /** Makes what was removed or replaced unreadable: SQLite keeps it in free pages until the file is rewritten. */
  scrub(): void {
    this.ledger.database.exec('vacuum; pragma wal_checkpoint(truncate)')
  }

  [Symbol.dispose](): void {
    this.ledger[Symbol.dispose]()
  }

  #recordOne({ log, from, rows }: LogReadingDone, into: { turns: RowWriter; calls: RowWriter }): boolean {
    const now = from && this.log(log.path, partOf(log))
    if (from && (now?.resume !== from.resume || now.stamp !== from.stamp)) return false
    const n = this.#writeLog(log, now, rows)
    if (n === undefined) return false
    if (rows.isRestarted) {
      this.ledger.run('delete from turns where log = ?', n)
      this.ledger.run('delete from tool_calls where log = ?', n)
    }
    const [turns, calls] = [[...rows.turns.values()], inOrderOfId([...rows.calls.values()])]
    if (from && !rows.isRestarted) {
      for (const turn of turns) this.ledger.run(REPLACE_TURN, ...turnValues(n, turn))
      for (const call of calls) this.ledger.run(REPLACE_CALL, ...callValues(n, call))
      return true
    }
    for (const turn of turns) into.turns.add(turnValues(n, turn))
    for (const call of calls) into.calls.add(callValues(n, call))
    return true
  }

  /** Undefined when the log was not known and now is: another process has read it meanwhile. */
  #writeLog(log: LogRef, known: StoredLog | undefined, rows: LogRows): number | undefined {
    const before =
      known &&
      (this.ledger.get('select news, last_at from history_logs where n = ?', known.n) as {
        news: string
        last_at: Instant | null
      })
    const told: SessionNews = before && !rows.isRestarted ? JSON.parse(before.news) : {}
    // The first prompt is the first one that was ever read.
    const news: SessionNews = {
      ...told,
      ...rows.news,
      ...(told.prompt === undefined ? {} : { prompt: told.prompt }),
      ...(told.commits === undefined ? {} : { commits: allCommits(told.commits, rows.news.commits) }),
    }
    const session = log.session ?? news.spawner?.session ?? news.id ?? null
    const agent = log.agent ?? news.spawner?.agent ?? null
    const values = [
      ...[
        log.path,
        partOf(log),
        log.tool,
        log.stamp,
        rows.checkpoint?.resume ? resumeText(rows.checkpoint.resume) : null,
        session,
        agent,
      ],
      ...[
        JSON.stringify(news),
        JSON.stringify(rows.checkpoint?.counters ?? {}),
        JSON.stringify(rows.checkpoint?.head ?? {}),
      ],
      rows.lastAt ?? before?.last_at ?? timeWithoutTimes(log, rows),
    ]
    if (!known) return this.ledger.insert(ADD_LOG, ...values)
    this.ledger.run(CHANGE_LOG, ...values, known.n)
    return known.n
  }
}

const FOUND = `n as log, path, session as id, tool, news, last_at,
  (select outcome from turns where log = n and agent = '' order by turn desc limit 1) as last_turn`

interface FoundRow {
  log: number
  id: SessionId
  path: string
  tool: string
  news: string
  last_at: Instant | null
  last_turn: TurnOutcome | null
}

const foundSession = ({ news, last_at, last_turn, ...row }: FoundRow): FoundSession & { log: number } => ({
  ...row,
  news: JSON.parse(news) as SessionNews,
  last_at: last_at ?? undefined,
  last_turn: last_turn ?? undefined,
})

/** As the table keeps them: rows that come in its order are written faster. */
const inOrderOfId = (calls: ToolCallRow[]): ToolCallRow[] => calls.sort((a, b) => (a.call < b.call ? -1 : 1))

const allCommits = (
  told: NonNullable<SessionNews['commits']>,
  more: SessionNews['commits'] = [],
): SessionNews['commits'] => [...told, ...more.filter(({ id }) => !told.some((one) => one.id === id))]

/** Some logs have turns and no times; one that has neither has hardly been begun. */
const timeWithoutTimes = (log: LogRef, rows: LogRows): Instant | null => (rows.turns.size > 0 ? log.modified_at : null)

function ledgerNews({ log, rows, usageGoesOn }: LogReadingDone): LogNews {
  const { checkpoint } = rows
  return {
    path: log.path,
    session: log.session,
    tool: log.tool,
    stamp: log.stamp,
    carry: checkpoint?.resume && usageGoesOn ? resumeText(checkpoint.resume) : undefined,
    damaged_lines: checkpoint?.counters.bad_lines ?? 0,
    oversized_lines: checkpoint?.counters.dropped_lines ?? 0,
    unread_counts: checkpoint?.counters.unread_counts,
    tellings: rows.tellings.values(),
  }
}

export const resumeOf = (log: Pick<StoredLog, 'resume'> | undefined): Resume | undefined =>
  log?.resume ? (JSON.parse(log.resume) as Resume) : undefined

const TURN_COLUMNS = [
  ...(['agent', 'turn', 'started_at', 'ended_at', 'duration_ms', 'outcome', 'asked_by', 'follows'] as const),
  ...(['copied', 'compacted', 'prompt_chars', 'messages'] as const),
] as const
const CALL_COLUMNS = [
  ...(['call', 'agent', 'turn', 'name', 'started_at', 'ended_at', 'duration_ms', 'success'] as const),
  ...(['argument_names', 'result_chars'] as const),
] as const

// Field by field, in the order of the columns: to ask a row for each column by its name takes longer than to store it.
const turnValues = (log: number, row: TurnRow): SqlValue[] => [
  ...[log, row.agent, row.turn, row.started_at, row.ended_at, row.duration_ms, row.outcome, row.asked_by, row.follows],
  ...[row.copied, row.compacted, row.prompt_chars, row.messages],
]
const callValues = (log: number, row: ToolCallRow): SqlValue[] => [
  ...[log, row.call, row.agent, row.turn, row.name, row.started_at, row.ended_at, row.duration_ms, row.success],
  ...[row.argument_names, row.result_chars],
]

const replaceInto = (table: string, columns: readonly string[]): string =>
  `insert or replace into ${table} (log, ${columns.join(', ')}) values (?, ${columns.map(() => '?').join(', ')})`
const REPLACE_TURN = replaceInto('turns', TURN_COLUMNS)
const REPLACE_CALL = replaceInto('tool_calls', CALL_COLUMNS)

const MOST_COPIES = 100
const LOG_COLUMNS = [
  ...['path', 'part', 'tool', 'stamp', 'resume', 'session', 'agent', 'news', 'counters', 'head', 'last_at'],
]
const ADD_LOG = `insert or ignore into history_logs (${LOG_COLUMNS.join(', ')}) values (${LOG_COLUMNS.map(() => '?').join(', ')})`
const CHANGE_LOG = `update history_logs set ${LOG_COLUMNS.map((name) => `${name} = ?`).join(', ')}, announced = 0 where n = ?`
