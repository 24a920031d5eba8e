import { openDatabase, openToRead, type SqlValue, Statements } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { UsageRecord } from '../../tools/index.js'
import { type Call, type Held, ownerOf, UNKNOWN_MS } from './ledger.js'
import {
  CALL_COLUMNS,
  COPIES_TABLE,
  createLedgerTables,
  LEDGER_VERSION,
  MAKERS_TABLE,
  UNREAD_TABLE,
} from './ledger-schema.js'
import { fullerRecord } from './usage-record.js'

/** What one reading of one log found, to be stored as a whole. */
export interface LogNews {
  path: string
  /** One path may hold the logs of several sessions. */
  session?: string | undefined
  tool: string
  stamp: string
  carry: string | undefined
  damaged_lines: number
  oversized_lines: number
  /** Records with a token count that is no number. */
  unread_counts?: number | undefined
  tellings: Iterable<UsageRecord>
}

/** What the last reading of a log left. */
export interface LogState {
  carry: string | undefined
  damaged_lines: number
  oversized_lines: number
}

interface CallRow extends Omit<Call, 'service_tier' | 'speed' | 'logged_nano_usd'> {
  service_tier: string | null
  speed: string | null
  logged_nano_usd: number | null
  copied: number
}

/**
 * The ledger on disk. Storing a telling again changes nothing, and the order of stores does not matter, so any number of processes
 * may read the same logs at once: each transaction folds its tellings into what is there, and says how far it read.
 */
export class LedgerStore extends Statements implements Disposable {
  /** A file of its own is the better place: it must outlive the index, which is rebuilt from the logs that still exist. */
  static open(path: string): LedgerStore {
    const database = openDatabase(path)
    try {
      database.exec(
        'pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -16384; pragma wal_autocheckpoint = 8000',
      )
      const store = new LedgerStore(database)
      const isNew = store.get('select 1 from sqlite_master where name = ?', 'ledger_facts') === undefined
      if (isNew) store.inTransaction(() => createLedgerTables(database))
      database.exec(`${UNREAD_TABLE}; ${COPIES_TABLE}; ${MAKERS_TABLE}`)
      const version = Number(store.fact('version'))
      if (version > LEDGER_VERSION) {
        const next = 'Update Skein, or move the file away: it is filled again from the logs that still exist'
        throw new SkeinError('newer-format', `${path} was written by a newer version of Skein`, next)
      }
      return store
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** For a home that cannot be written to. */
  static read(path: string): LedgerStore {
    return new LedgerStore(openToRead(path))
  }

  /** The stamp that each log had when it was read last; by log, as `logKey` names it. */
  stamps(): Map<string, string> {
    const stamps = new Map<string, string>()
    for (const row of this.all('select path, session, stamp from ledger_logs')) {
      const { path, session, stamp } = row as { path: string; session: string; stamp: string }
      stamps.set(logKey(path, session), stamp)
    }
    return stamps
  }

  stateOf(path: string, session: string | undefined): LogState | undefined {
    const sql = 'select carry, damaged_lines, oversized_lines from ledger_logs where path = ? and session = ?'
    const row = this.get(sql, path, session ?? '') as (LogState & { carry: string | null }) | undefined
    return row && { ...row, carry: row.carry ?? undefined }
  }

  /** How many records of all logs, or of those of some sessions, have token counts that could not be read. */
  unreadCounts(sessions?: readonly string[]): number {
    if (this.get('select 1 from sqlite_master where name = ?', 'ledger_unread') === undefined) return 0
    const sql = `select coalesce(sum(counts), 0) as n from ledger_unread
      where ?1 is null or session in (select value from json_each(?1))`
    return (this.get(sql, sessions ? JSON.stringify(sessions) : null) as { n: number }).n
  }

  unreadCountsAt(path: string, session: string | undefined): number {
    const sql = 'select counts from ledger_unread where path = ? and session = ?'
    return (this.get(sql, path, session ?? '') as { counts: number } | undefined)?.counts ?? 0
  }

  /** All of it or nothing: a process that dies here leaves the logs to be read again. */
  record(news: readonly LogNews[]): void {
    this.inTransaction(() => this.fold(news))
  }

  /** The same inside a transaction of the caller's. */
  fold(news: Iterable<LogNews>): void {
    const fold = new StoredFold(this)
    const noted = this.all('select path, session from ledger_unread') as { path: string; session: string }[]
    const unread = new Set(noted.map(({ path, session }) => logKey(path, session)))
    for (const log of news) {
      const counts = log.unread_counts ?? 0
      if (counts > 0) {
        const sql = 'insert or replace into ledger_unread (path, session, counts) values (?, ?, ?)'
        this.run(sql, log.path, log.session ?? '', counts)
      } else if (unread.has(logKey(log.path, log.session)))
        this.run('delete from ledger_unread where path = ? and session = ?', log.path, log.session ?? '')
      fold.tellAll(log.tellings)
      this.run(
        `insert into ledger_logs (path, session, tool, stamp, carry, damaged_lines, oversized_lines)
         values (?, ?, ?, ?, ?, ?, ?) on conflict do update set tool = excluded.tool, stamp = excluded.stamp,
         carry = excluded.carry, damaged_lines = excluded.damaged_lines, oversized_lines = excluded.oversized_lines`,
        log.path,
        log.session ?? '',
        log.tool,
        log.stamp,
        log.carry ?? null,
        log.damaged_lines,
        log.oversized_lines,
      )
    }
    fold.finish()
  }

  /** `where` may use the columns of `ledger_calls`. */
  *calls(where = 'true', ...params: SqlValue[]): Generator<Call, void> {
    const sql = `select ${CALL_COLUMNS.join(', ')} from ledger_calls where ${where}`
    for (const row of this.prepared(sql).iterate(...params)) yield callOf(row as CallRow)
  }

  /** The calls of one session, many as one text: a value at a time out of SQLite takes five times as long. */
  *callsOf(session: string): Generator<Omit<Call, 'call' | 'session'>, void> {
    for (let done = 0; ; done += CALLS_AT_ONCE) {
      const { calls } = this.get(CALLS_OF, session, CALLS_AT_ONCE, done) as { calls: string }
      const some = JSON.parse(calls) as PricedCall[]
      yield* some.map(pricedCall)
      if (some.length < CALLS_AT_ONCE) return
    }
  }

  fact(name: string): string | undefined {
    const row = this.get('select value from ledger_facts where name = ?', name) as { value: string } | undefined
    return row?.value
  }

  setFact(name: string, value: string): void {
    this.run('insert into ledger_facts values (?, ?) on conflict do update set value = excluded.value', name, value)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

export const logKey = (path: string, session: string | undefined): string => `${path}\0${session ?? ''}`

type PricedCall = [
  ...[tool: string, model: string, at_ms: number],
  ...[input: number, output: number, cacheRead: number, cacheWrite5m: number, cacheWrite1h: number, searches: number],
  ...[tier: string | null, speed: string | null, logged: number | null],
]
const pricedCall = ([tool, model, at_ms, ...rest]: PricedCall): Omit<Call, 'call' | 'session'> => {
  const [input, output, cacheRead, cacheWrite5m, cacheWrite1h, searches, tier, speed, logged] = rest
  return {
    ...{ tool, model, at_ms, input_tokens: input, output_tokens: output, cache_read_tokens: cacheRead },
    ...{ cache_write_5m_tokens: cacheWrite5m, cache_write_1h_tokens: cacheWrite1h, web_search_requests: searches },
    ...{ service_tier: tier ?? undefined, speed: speed ?? undefined, logged_nano_usd: logged ?? undefined },
  }
}
const CALLS_AT_ONCE = 10_000
const CALLS_OF = `select json_group_array(json_array(tool, model, at_ms, input_tokens, output_tokens, cache_read_tokens,
  cache_write_5m_tokens, cache_write_1h_tokens, web_search_requests, service_tier, speed, logged_nano_usd)) as calls
  from (select * from ledger_calls where session = ? limit ? offset ?)`
const SELECT_CALL = `select ${CALL_COLUMNS.join(', ')} from ledger_calls where tool = ? and call = ?`
const WRITE_CALL = `insert or replace into ledger_calls (${CALL_COLUMNS.join(', ')}) values (${CALL_COLUMNS.map(() => '?').join(', ')})`
const ADD_CALL = WRITE_CALL.replace('or replace', 'or ignore')
const MANY_CALLS = 8
const ROW = ADD_CALL.slice(ADD_CALL.indexOf('values') + 'values'.length)
const ADD_CALLS = ADD_CALL + `,${ROW}`.repeat(MANY_CALLS - 1)
const ADD_HOLDER = 'insert or ignore into ledger_holders (session, tool, call) values (?, ?, ?)'
const ADD_MAKER = 'insert or ignore into ledger_makers (tool, call, session) values (?, ?, ?)'
const ADD_COPY = 'insert or ignore into ledger_copies (tool, call, session, origin, into_ms) values (?, ?, ?, ?, ?)'

/** In the column `copied`. */
const [ALONE, SHARED, MADE_ALONE] = [0, 1, 2]
const sharingOf = ({ copied, made }: UsageRecord): number => (copied ? SHARED : made ? MADE_ALONE : ALONE)

/** Does in the tables, inside one transaction, what `Ledger` does in memory. */
class StoredFold {
  /** Sessions that have a call more or less of their own. */
  readonly #touched = new Set<string>()
  /** Sessions whose owned calls are no longer what their cells say. */
  readonly #unsettled = new Set<string>()

  constructor(private readonly store: LedgerStore) {}

  /** Most calls are new, and half of the cost of a row is the way into SQLite: so they are added several at once, unasked. */
  tellAll(tellings: Iterable<UsageRecord>): void {
    let some: UsageRecord[] = []
    for (const telling of tellings) {
      if (telling.copied) {
        this.#tell(telling)
        continue
      }
      some.push(telling)
      if (some.length < MANY_CALLS) continue
      this.#tellMany(some)
      some = []
    }
    for (const telling of some) this.#tell(telling)
  }

  #tellMany(some: readonly UsageRecord[]): void {
    const values: SqlValue[] = []
    for (const telling of some) pushValues(values, telling, sharingOf(telling))
    const added = this.store.run(ADD_CALLS, ...values)
    if (added < some.length) {
      // Some were known. Those that were not are now, as they are: telling them again only marks their sessions.
      for (const telling of some) this.#merge(telling)
    }
    for (const { session } of some) {
      this.#touched.add(session)
      this.#unsettled.add(session)
    }
  }

  #tell(telling: UsageRecord): void {
    if (!this.#add(telling)) this.#merge(telling)
    else if (telling.copied) this.#hold(telling)
    else this.#touched.add(telling.session)
  }

  #merge(telling: UsageRecord): void {
    const row = this.store.get(SELECT_CALL, telling.tool, telling.call) as CallRow
    const known = callOf(row)
    const isHeld = row.copied === SHARED || telling.copied !== undefined || known.session !== telling.session
    if (isHeld) {
      if (row.copied !== SHARED) this.#hold({ ...known, made: row.copied === MADE_ALONE ? true : undefined })
      this.#hold(telling)
    }
    const at_ms = Math.min(known.at_ms, telling.at_ms)
    const fullest = fullerRecord(known, telling)
    const copied = isHeld ? SHARED : Math.max(row.copied, sharingOf(telling))
    if (fullest === known && at_ms === known.at_ms && copied === row.copied) return
    this.#write({ ...fullest, session: known.session, at_ms }, copied)
    this.#touched.add(known.session)
  }

  #hold({ tool, call, session, copied, made }: UsageRecord): void {
    let added = this.store.run(ADD_HOLDER, session, tool, call)
    if (made) added += this.store.run(ADD_MAKER, tool, call, session)
    const { from = '', into_ms = UNKNOWN_MS } = copied ?? {}
    if (copied) added += this.store.run(ADD_COPY, tool, call, session, from, into_ms)
    if (added > 0) this.#touched.add(session)
  }

  #held(tool: string, call: string): Held {
    const holders = this.store.all('select session from ledger_holders where tool = ? and call = ?', tool, call)
    const makers = this.store.all('select session from ledger_makers where tool = ? and call = ?', tool, call)
    const sql = 'select session, origin, into_ms from ledger_copies where tool = ? and call = ? order by into_ms desc'
    const copies = this.store.all(sql, tool, call) as { session: string; origin: string; into_ms: number }[]
    return {
      holders: new Set((holders as { session: string }[]).map(({ session }) => session)),
      makers: new Set((makers as { session: string }[]).map(({ session }) => session)),
      copies: new Map(copies.map(({ session, into_ms }) => [session, into_ms])),
      origins: new Set(copies.flatMap(({ origin }) => (origin === '' ? [] : origin))),
    }
  }

  /** Decides the owner of copied calls again wherever the answer may have changed. */
  finish(): void {
    const firstOwn = new Map<string, number>()
    const asked = new Set<string>()
    for (const { tool, call } of this.#copiedCalls()) {
      const held = this.#held(tool, call)
      for (const session of held.holders) {
        if (asked.has(session)) continue
        asked.add(session)
        const sql = `select min(at_ms) as ms from ledger_calls where session = ? and copied <> ${SHARED}`
        const { ms } = this.store.get(sql, session) as { ms: number | null }
        if (ms !== null) firstOwn.set(session, ms)
      }
      const row = this.store.get(SELECT_CALL, tool, call) as CallRow
      const session = ownerOf(held, firstOwn)
      if (session === row.session) continue
      this.#unsettled.add(row.session)
      this.#write({ ...callOf(row), session }, SHARED)
    }
    const sql = 'insert or ignore into ledger_unsettled select value from json_each(?)'
    this.store.run(sql, JSON.stringify([...this.#unsettled]))
  }

  #copiedCalls(): { tool: string; call: string }[] {
    const sql = 'select distinct tool, call from ledger_holders where session in (select value from json_each(?))'
    return this.store.all(sql, JSON.stringify([...this.#touched])) as { tool: string; call: string }[]
  }

  /** False when it is there already. */
  #add(call: UsageRecord): boolean {
    if (this.store.run(ADD_CALL, ...valuesOf(call, sharingOf(call))) === 0) return false
    this.#unsettled.add(call.session)
    return true
  }

  #write(call: Call, copied: number): void {
    this.store.run(WRITE_CALL, ...valuesOf(call, copied))
    this.#unsettled.add(call.session)
  }
}

/** Field by field, in the order of the columns: to ask for each by its name takes longer than to store it. */
function pushValues(values: SqlValue[], call: Call, copied: number): void {
  values.push(
    call.tool,
    call.call,
    call.session,
    call.model,
    call.at_ms,
    call.input_tokens,
    call.output_tokens,
    call.cache_read_tokens,
    call.cache_write_5m_tokens,
    call.cache_write_1h_tokens,
    call.web_search_requests,
    call.service_tier ?? null,
    call.speed ?? null,
    call.logged_nano_usd ?? null,
    copied,
  )
}

function valuesOf(call: Call, copied: number): SqlValue[] {
  const values: SqlValue[] = []
  pushValues(values, call, copied)
  return values
}

/** Field by field: copying with a spread took a tenth of the time that a first reading of the logs takes. */
function callOf(row: CallRow): Call {
  return {
    tool: row.tool,
    call: row.call,
    session: row.session,
    model: row.model,
    at_ms: row.at_ms,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cache_read_tokens: row.cache_read_tokens,
    cache_write_5m_tokens: row.cache_write_5m_tokens,
    cache_write_1h_tokens: row.cache_write_1h_tokens,
    web_search_requests: row.web_search_requests,
    service_tier: row.service_tier ?? undefined,
    speed: row.speed ?? undefined,
    logged_nano_usd: row.logged_nano_usd ?? undefined,
  }
}
