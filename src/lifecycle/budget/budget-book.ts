import { explainDiskError, FileLock, readPlain, statOf, writeAtomic } from '../../disk/index.js'
import type { Home } from '../../home/index.js'
import { type Budget, isBudget, isNewer, isSameBudget, newerFormat, readJson, SkeinError } from '../../model/index.js'

const WAIT_MS = 10_000

/** The budgets of a profile, in one small file (0600). */
export class BudgetBook {
  readonly #path: string

  constructor({ paths }: Pick<Home, 'paths'>) {
    this.#path = paths.budgets
  }

  /** Without a file there is nothing to read: most homes have no budgets. */
  get isEmpty(): boolean {
    return statOf(this.#path) === undefined
  }

  /** A damaged file is an error: agents must not spend without a limit because of it. */
  read(): Budget[] {
    const content = this.#content()
    if (content === undefined) return []
    const value = readJson(content) as { v?: unknown; budgets?: unknown } | undefined
    if (value && isNewer(value.v, 1)) throw newerFormat(this.#path)
    if (value && Array.isArray(value.budgets) && value.budgets.every(isBudget)) return value.budgets
    throw new SkeinError(
      'store-damaged',
      `${this.#path}, which contains your budgets, is damaged`,
      `Move it away, then set them again: skein budget set`,
    )
  }

  /** Replaces the budget for the same target and period. */
  async set(budget: Budget): Promise<void> {
    await this.#change((all) => [...all.filter((one) => !isSameBudget(one, budget)), budget])
  }

  /** Those that were taken away. */
  async clear(isMeant: (budget: Budget) => boolean): Promise<Budget[]> {
    let cleared: Budget[] = []
    await this.#change((all) => {
      cleared = all.filter(isMeant)
      return all.filter((one) => !isMeant(one))
    })
    return cleared
  }

  /** False when another process has warned already, or the budget is another one by now. */
  async warned(budget: Budget, period: string): Promise<boolean> {
    let isFirst = false
    await this.#change((all) =>
      all.map((one) => {
        if (!isSameBudget(one, budget) || one.set_at !== budget.set_at || one.warned === period) return one
        isFirst = true
        return { ...one, warned: period }
      }),
    )
    return isFirst
  }

  async #change(change: (all: Budget[]) => Budget[]): Promise<void> {
    using lock = new FileLock(`${this.#path}.lock`)
    using _held = await lock.hold(WAIT_MS)
    const budgets = change(this.read())
    try {
      writeAtomic(this.#path, `${JSON.stringify({ v: 1, budgets }, undefined, 1)}\n`, { durable: true })
    } catch (error) {
      throw explainDiskError(error, this.#path)
    }
  }

  #content(): string | undefined {
    try {
      return readPlain(this.#path)?.toString()
    } catch (error) {
      throw explainDiskError(error, this.#path)
    }
  }
}
