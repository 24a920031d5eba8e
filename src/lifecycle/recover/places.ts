/** So many at a time; the others wait for a place, first come first served. */
export class Places {
  readonly #waiting: (() => void)[] = []

  constructor(private free: number) {}

  /** The place is given back by calling what this resolves with; more than once does no harm. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = this.#waiting.shift()
      if (next) next()
      else this.free += 1
    }
  }
}
