import type { SqlValue } from './sqlite.js'
import type { Statements } from './statements.js'

const MANY_ROWS = 16

/**
 * Writes new rows of one table several at a time: half of the cost of a row is the way into SQLite. Written when `flush` has returned.
 * A row that is there already is an error that leaves the others written (`or fail`), so it must end the transaction: else SQLite would
 * copy every page that a statement touches, to be able to undo it alone.
 */
export class RowWriter {
  readonly #one: string
  readonly #many: string
  #values: SqlValue[] = []

  constructor(
    private readonly db: Statements,
    table: string,
    private readonly columns: readonly string[],
  ) {
    const insert = `insert or fail into ${table} (${columns.join(', ')}) values `
    const row = `(${columns.map(() => '?').join(', ')})`
    this.#one = insert + row
    this.#many = insert + Array(MANY_ROWS).fill(row).join(', ')
  }

  add(row: readonly SqlValue[]): void {
    for (const value of row) this.#values.push(value)
    if (this.#values.length < MANY_ROWS * this.columns.length) return
    this.db.run(this.#many, ...this.#values)
    this.#values = []
  }

  flush(): void {
    const { length } = this.columns
    for (let at = 0; at < this.#values.length; at += length)
      this.db.run(this.#one, ...this.#values.slice(at, at + length))
    this.#values = []
  }
}
