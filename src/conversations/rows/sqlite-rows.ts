import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, SQLITE, type SqlValue, type Statement, sqliteCode } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { SessionEntry } from '../entry.js'
import { type ConversationKey, parseKey } from '../key.js'
import { type DatabaseLayout, explainDatabaseError, openOwnedDatabase } from './owned-database.js'
import { type ConversationRows, channelOf, checkExpected, type Row, type RowFilter, type Step } from './rows.js'

const LAYOUT: DatabaseLayout = {
  application: 0x736b6376, // 'skcv'
  version: 1,
  schema: `
    create table conversations (
      key text primary key,
      revision integer not null,
      kind text not null,
      channel text,
      spawned_by text,
      updated_at integer not null,
      entry text not null
    ) strict;
    -- 'list' shows the newest first; prune walks the same index from its other end
    create index conversations_by_time on conversations (updated_at desc, key);
    -- how many subagents a conversation has: asked on every spawn
    create index conversations_by_spawner on conversations (spawned_by) where spawned_by is not null;`,
}

interface StoredRow {
  key: ConversationKey
  revision: number
  entry: string
}

/** Conversations as rows of an SQLite database: a change touches one row, whatever the size of the store. */
export class SqliteRows implements ConversationRows {
  readonly #path: string
  readonly #database: Database
  readonly #waitMs: number
  readonly #statements = new Map<string, Statement>()
  #closed = false

  constructor(path: string, options: { waitMs?: number } = {}) {
    this.#path = path
    this.#waitMs = options.waitMs ?? 10_000
    this.#database = openOwnedDatabase(path, LAYOUT)
  }

  async get(key: ConversationKey): Promise<Row | undefined> {
    return this.#patiently(() => this.#read(key))
  }

  async change(steps: readonly Step[]): Promise<(Row | undefined)[]> {
    return this.#patiently(() => {
      this.#database.exec('begin immediate')
      try {
        const rows = steps.map((step) => this.#apply(step))
        this.#database.exec('commit')
        return rows
      } catch (error) {
        this.#rollback()
        throw error
      }
    })
  }

  async list(filter: RowFilter = {}): Promise<Row[]> {
    const { sql, params } = listQuery(filter)
    return this.#patiently(() => (this.#prepare(sql).all(...params) as StoredRow[]).map(rowOf))
  }

  #read(key: ConversationKey): Row | undefined {
    const found = this.#prepare('select key, revision, entry from conversations where key = ?').get(key)
    return found ? rowOf(found as StoredRow) : undefined
  }

  #apply(step: Step): Row | undefined {
    const current = this.#read(step.key)
    checkExpected(step, current)
    const entry = step.decide(current)
    if (entry === current?.entry) return current
    if (entry === undefined) {
      this.#prepare('delete from conversations where key = ?').run(step.key)
      return undefined
    }
    const { revision } = this.#prepare(UPSERT).get(
      step.key,
      parseKey(step.key).kind,
      channelOf(step.key, entry) ?? null,
      entry.spawnedBy ?? null,
      entry.updatedAt,
      JSON.stringify(entry),
    ) as { revision: number }
    return { key: step.key, revision: String(revision), entry }
  }

  /** Waiting is a short sleep and another try: SQLite's own wait blocks the thread, backs off to 100 ms and starves under load. */
  async #patiently<T>(attempt: () => T): Promise<T> {
    const deadline = performance.now() + this.#waitMs
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs + 1, 8)) {
      try {
        return attempt()
      } catch (error) {
        if (sqliteCode(error) !== SQLITE.busy) throw explainDatabaseError(error, this.#path)
        if (performance.now() > deadline) throw locked(this.#path, this.#waitMs, error)
      }
      await sleep(pauseMs)
    }
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #rollback(): void {
    try {
      this.#database.exec('rollback')
    } catch {
      // A full disk makes SQLite roll back by itself; then there is nothing left to undo.
    }
  }

  [Symbol.dispose](): void {
    if (this.#closed) return
    this.#closed = true
    this.#statements.clear()
    // On Node 20 a database that still has statements is closed only when they are collected: fold the log in now, so that
    // the file alone is the store, whoever copies it next. Beside other users of the store it does what it can.
    try {
      this.#database.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // A full or vanished disk: what was committed stays in the log, and the next one to open the store reads it there.
    } finally {
      this.#database.close()
    }
  }
}

// Revisions begin at the time in ms and count up, so a key that was removed and made again does not repeat an old one.
const UPSERT = `
  insert into conversations (key, revision, kind, channel, spawned_by, updated_at, entry)
  values (?, cast(unixepoch('subsec') * 1000 as integer), ?, ?, ?, ?, ?)
  on conflict (key) do update set
    revision = revision + 1, kind = excluded.kind, channel = excluded.channel,
    spawned_by = excluded.spawned_by, updated_at = excluded.updated_at, entry = excluded.entry
  returning revision`

/** Served by (updated_at desc, key), or by the spawner's index; `skein conversations list` and prune wait for it. */
function listQuery(filter: RowFilter): { sql: string; params: SqlValue[] } {
  const terms: [string, SqlValue | undefined][] = [
    ['kind = ?', filter.kind],
    ['channel = ?', filter.channel],
    ['spawned_by = ?', filter.spawnedBy],
    ['updated_at >= ?', filter.activeSince],
    ['updated_at < ?', filter.idleSince],
  ]
  const used = terms.filter((term): term is [string, SqlValue] => term[1] !== undefined)
  const where = used.map(([sql]) => sql).join(' and ') || 'true'
  return {
    sql: `select key, revision, entry from conversations where ${where} order by updated_at desc, key limit ?`,
    params: [...used.map(([, value]) => value), filter.limit ?? -1],
  }
}

const rowOf = (stored: StoredRow): Row => ({
  key: stored.key,
  revision: String(stored.revision),
  entry: JSON.parse(stored.entry) as SessionEntry, // written by this file only, inside a transaction
})

const locked = (path: string, waitMs: number, cause: unknown): SkeinError =>
  new SkeinError(
    'store-locked',
    `Another process has been writing to ${path} for ${Math.round(waitMs / 1000)} s`,
    'Wait for it to end, then try again',
    { cause },
  )
