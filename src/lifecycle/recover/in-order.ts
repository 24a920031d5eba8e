/** Hands on results in the order of their numbers, however they come in. */
export class InOrder<T> {
  readonly #waiting = new Map<number, T | undefined>()
  #next = 0

  constructor(private readonly give: (one: T) => void) {}

  /** Undefined is none: it only lets the next ones pass. */
  put(at: number, one: T | undefined): void {
    this.#waiting.set(at, one)
    while (this.#waiting.has(this.#next)) {
      const next = this.#waiting.get(this.#next)
      this.#waiting.delete(this.#next)
      this.#next += 1
      if (next !== undefined) this.give(next)
    }
  }
}
