import { accessSync, constants } from 'node:fs'
import {
  CHANGED,
  type Database,
  ForeignDatabase,
  kindOf,
  refuseDead,
  SQLITE,
  sqliteCode,
  statOf,
  UnsuitableFile,
} from '../../disk/index.js'
import { instantOf, isSessionId, readJson, type SessionId } from '../../model/index.js'
import { isObject, type JsonObject, numberAt, textAt } from '../json-value.js'
import type { LogRef } from '../log/log-tool.js'

/**
 * opencode's own database, opened beside it without a trace: it keeps a write-ahead log, so a reader sees one consistent state and
 * stops nobody. A read runs inside one transaction, so what it sees does not change under it.
 */
export class OpencodeDatabase implements Disposable {
  #foreign: ForeignDatabase
  #database: Database
  readonly #statements = new Map<string, ReturnType<Database['prepare']>>()

  constructor(path: string) {
    refuseOddFiles(path)
    this.#foreign = new ForeignDatabase(path)
    this.#database = this.#foreign.database
    try {
      this.#database.exec('pragma busy_timeout = 2000; begin')
    } catch (error) {
      this.#foreign[Symbol.dispose]()
      throw error
    }
  }

  /** To be asked before what was read is taken for true. */
  assertSame(): void {
    this.#foreign.assertSame()
  }

  /**
   * Newest change of each session. A copy or an import is written row by row, and its session gets no newer time until something is asked
   * in it: until then its rows are counted. Served by the primary key, and by indexes for the few that are counted; run at every listing.
   */
  sessions(): { id: SessionId; updated: number; copied: number }[] {
    const sql = `select id, time_updated, case when time_updated > time_created then 0 else
      (select count(*) from message where session_id = session.id) + (select count(*) from part where session_id = session.id)
      end as copied from session`
    return this.#rows(sql).flatMap((row) => {
      const id = row.id
      if (!isSessionId(id)) return []
      return [{ id, updated: numberAt(row, 'time_updated') ?? 0, copied: numberAt(row, 'copied') ?? 0 }]
    })
  }

  session(id: SessionId): JsonObject | undefined {
    const row = this.#rows('select * from session where id = ?', id)[0]
    if (!row) return undefined
    const time = { created: row.time_created, updated: row.time_updated }
    return { ...row, time, model: parsed(row.model), revert: parsed(row.revert) }
  }

  messageCount(session: SessionId): number {
    return numberAt(this.#rows('select count(*) as n from message where session_id = ?', session)[0], 'n') ?? 0
  }

  /** The newest prompt of a session. */
  lastPrompt(session: SessionId): JsonObject | undefined {
    const sql = `select id, ${DATA} from message where session_id = ? order by time_created desc, id desc limit 50`
    const found = this.#data(sql, session).find(({ data }) => isObject(data) && data.role === 'user')?.data
    return isObject(found) ? found : undefined
  }

  /** Messages of which anything changed since, oldest first. Served by (session_id, time_created, id) and part (message_id, id). */
  *changedSince(session: SessionId, isWanted: (message: MessagePlace) => boolean): Iterable<ChangedMessage> {
    const messages = this.#database
      .prepare(
        `select m.id, m.time_created as created, max(m.time_updated, coalesce((select max(p.time_updated) from part p where p.message_id = m.id), 0)) as updated
         from message m where m.session_id = ? order by m.time_created, m.id`,
      )
      .iterate(session)
    for (const row of messages) {
      if (!isObject(row)) continue
      const id = textAt(row, 'id') ?? ''
      const place = { id, created: numberAt(row, 'created') ?? 0, updated: numberAt(row, 'updated') ?? 0 }
      if (!isWanted(place)) continue
      const { data, size } = this.#data(`select ${DATA} from message where id = ?`, id)[0] ?? NO_DATA
      const parts = this.#partsOf(id)
      const record = isObject(data) ? { message: { ...data, id }, parts: parts.map((part) => part.data) } : undefined
      yield { ...place, record, size: parts.reduce((sum, part) => sum + part.size, size) }
    }
  }

  #partsOf(message: string): { data: JsonObject; size: number }[] {
    return this.#data(`select id, ${DATA} from part where message_id = ? order by id`, message).map(
      ({ id, data, size }) => ({
        data: isObject(data) ? { ...data, id } : { type: UNREADABLE, id },
        size,
      }),
    )
  }

  #data(sql: string, id: string): { id: unknown; data: unknown; size: number }[] {
    return this.#rows(sql, id).map((row) => ({ id: row.id, data: parsed(row.data), size: numberAt(row, 'size') ?? 0 }))
  }

  #rows(sql: string, ...params: string[]): JsonObject[] {
    // Asked once or twice per message.
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement.all(...params).filter(isObject)
  }

  [Symbol.dispose](): void {
    this.#foreign[Symbol.dispose]()
  }
}

/** The type of a part that cannot be read. */
export const UNREADABLE = '(unreadable)'
/** What is longer than this is no text: it is passed over, and counted. */
const LONGEST = 16 * 1024 * 1024
const DATA = `case when length(data) <= ${LONGEST} then data end as data, length(data) as size`
const NO_DATA = { data: undefined, size: 0 }

/** Where a message is among those of its session, and when it, or a part of it, was changed last. */
export interface MessagePlace {
  id: string
  created: number
  updated: number
}

export interface ChangedMessage extends MessagePlace {
  /** Undefined when it is not JSON. */
  record: JsonObject | undefined
  /** Of its data, in characters. */
  size: number
}

/** SQLite opens the files beside a database without checking what they are: with a pipe there it would wait for ever. */
function refuseOddFiles(path: string): void {
  refuseDead(path)
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) {
    const stat = statOf(file)
    if (stat && !stat.isFile()) throw new UnsuitableFile(file, `${kindOf(stat)}, not a file`)
  }
}

/** One log per session in the file. */
export function logsIn(tool: string, root: string, path: string, attempts = 3): LogRef[] {
  const stat = statOf(path)
  if (!stat?.isFile()) return []
  const file = { tool, path, root, size: 0 }
  try {
    using database = new OpencodeDatabase(path)
    const sessions = database.sessions()
    database.assertSame()
    return sessions.map(({ id, updated, copied }) => ({
      ...file,
      session: id,
      modified_at: instantOf(Math.min(Math.max(0, updated), 253_402_300_799_999)),
      stamp: `${stat.dev}:${stat.ino}:${id}:${updated}${copied === 0 ? '' : `:${copied}`}`,
    }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === CHANGED && attempts > 1) return logsIn(tool, root, path, attempts - 1)
    if (!isSqlites(error) && (error as NodeJS.ErrnoException).code === undefined) throw error
    // Still a log, and one that cannot be read: a database that is damaged or locked must not look like one without sessions.
    const modified_at = instantOf(Math.trunc(stat.mtimeMs))
    return [{ ...file, modified_at, stamp: `closed:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` }]
  }
}

/** The file is no database, is broken, or has other tables than we know. A lock is none of these. */
export const isDamage = (error: unknown): boolean => isSqlites(error) && sqliteCode(error) !== SQLITE.busy

/** An error met while stepping through rows carries no number, only that it is SQLite's. */
const isSqlites = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SQLITE_ERROR' || sqliteCode(error) !== undefined

/** Why a database cannot be read, as it is said of files that cannot. */
export function unreadable(error: unknown, path: string): unknown {
  if (!isSqlites(error)) return error
  try {
    refuseDead(path)
    accessSync(path, constants.R_OK)
  } catch (denied) {
    return denied
  }
  const code = sqliteCode(error) === SQLITE.busy ? 'locked by another program' : 'not a database that Skein supports'
  return Object.assign(new Error(`${path}: ${code}`, { cause: error }), { code })
}

const parsed = (text: unknown): unknown => (typeof text === 'string' ? readJson(text) : undefined)
