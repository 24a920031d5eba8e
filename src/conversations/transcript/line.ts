/** First come, first served, within one process. */
export class Line {
  #last: Promise<void> = Promise.resolve()
  #length = 0

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Joins the line. `turn` resolves when everybody before has left; whoever joined must leave, also without having had a turn. */
  join(): { turn: Promise<void>; leave: () => void } {
    const turn = this.#last
    let finish = () => {}
    const done = new Promise<void>((resolve) => {
      finish = resolve
    })
    this.#length += 1
    this.#last = turn.then(() => done)
    const leave = () => {
      this.#length -= 1
      finish()
    }
    return { turn, leave }
  }
}
