import type { Database, SqlValue, Statement } from './sqlite.js'

/** Queries with many forms must not pile up. */
const MOST_PREPARED = 200

/** A database whose statements are prepared once. */
export class Statements {
  readonly #prepared = new Map<string, Statement>()

  constructor(readonly database: Database) {}

  get(sql: string, ...params: SqlValue[]): unknown {
    return this.prepared(sql).get(...params)
  }

  all(sql: string, ...params: SqlValue[]): unknown[] {
    return this.prepared(sql).all(...params)
  }

  /** Returns how many rows changed. */
  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.prepared(sql).run(...params).changes)
  }

  /** Returns the row's number, or undefined when it was not added. (`returning` would have SQLite copy every page the statement touches.) */
  insert(sql: string, ...params: SqlValue[]): number | undefined {
    const { changes, lastInsertRowid } = this.prepared(sql).run(...params)
    return Number(changes) === 0 ? undefined : Number(lastInsertRowid)
  }

  /** All or nothing. An immediate one takes the write lock first: what is decided inside stays true until it is written. */
  inTransaction<T>(body: () => T, kind: 'immediate' | 'deferred' = 'immediate'): T {
    this.database.exec(`begin ${kind}`)
    try {
      const result = body()
      this.database.exec('commit')
      return result
    } catch (error) {
      try {
        this.database.exec('rollback')
      } catch {
        // SQLite already rolled back by itself (a full disk); the first error is the one to tell.
      }
      throw error
    }
  }

  prepared(sql: string): Statement {
    let statement = this.#prepared.get(sql)
    if (!statement) {
      if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear()
      statement = this.database.prepare(sql)
      this.#prepared.set(sql, statement)
    }
    return statement
  }

  close(): void {
    this.#prepared.clear()
    this.database.close()
  }
}
