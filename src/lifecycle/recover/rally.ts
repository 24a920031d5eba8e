/** So many that wait for each other. */
export class Rally {
  readonly #waiting = new Set<() => void>()

  constructor(private missing: number) {}

  /** For one of them, to be called once it is there, or will not come; more than once does no harm. */
  arrival(): () => void {
    let isThere = false
    return () => {
      if (isThere) return
      isThere = true
      this.missing -= 1
      if (this.missing <= 0) for (const go of this.#waiting) go()
    }
  }

  /** Until all are there, and no longer than this. */
  async within(ms: number): Promise<void> {
    if (this.missing <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#waiting.add(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
