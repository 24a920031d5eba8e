/**
 * Runs `work` whenever asked, never twice at once: who asks while it runs has it run once more afterwards. A burst of
 * changes is one piece of work.
 */
export class OneAtATime {
  #running: Promise<void> | undefined
  #isWanted = false

  constructor(
    private readonly work: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  ask(): void {
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted) this.ask()
    })
  }

  /** Until nothing is going on. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      try {
        await this.work()
      } catch (error) {
        this.onError(error)
      }
    }
  }
}
