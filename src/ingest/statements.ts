import type { Database, SqlValue, Statement } from '../disk/index.js'

/** A database whose statements are prepared once. */
export class Statements {
  readonly #prepared = new Map<string, Statement>()

  constructor(readonly database: Database) {}

  get(sql: string, ...params: SqlValue[]): unknown {
    return this.#statement(sql).get(...params)
  }

  all(sql: string, ...params: SqlValue[]): unknown[] {
    return this.#statement(sql).all(...params)
  }

  /** Returns how many rows changed. */
  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.#statement(sql).run(...params).changes)
  }

  /** Takes the write lock first: what is decided inside stays true until it is written. */
  inTransaction<T>(body: () => T): T {
    this.database.exec('begin immediate')
    try {
      const result = body()
      this.database.exec('commit')
      return result
    } catch (error) {
      this.database.exec('rollback')
      throw error
    }
  }

  #statement(sql: string): Statement {
    let statement = this.#prepared.get(sql)
    if (!statement) {
      statement = this.database.prepare(sql)
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}
