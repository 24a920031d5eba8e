const MINUTE_MS = 60_000

/** How many notifications are sent: for all agents together, and a third of that for each, so that one does not drown the others. */
export class NoticeLimit {
  readonly #buckets = new Map<string, { left: number; atMs: number }>()

  /** True, and counted, when a notice of this agent may be told now; without an agent, one about several. */
  takes(agent: string | undefined, perMinute: number, nowMs: number): boolean {
    const wanted = [
      { key: '', rate: perMinute },
      ...(agent === undefined ? [] : [{ key: agent, rate: shareOf(perMinute) }]),
    ]
    const buckets = wanted.map(({ key, rate }) => this.#bucket(key, rate, nowMs))
    if (buckets.some(({ left }) => left < 1)) return false
    for (const bucket of buckets) bucket.left -= 1
    return true
  }

  /** Agents that are no more need no place. */
  keepOnly(agents: ReadonlySet<string>): void {
    for (const key of this.#buckets.keys()) if (key !== '' && !agents.has(key)) this.#buckets.delete(key)
  }

  #bucket(key: string, rate: number, nowMs: number): { left: number; atMs: number } {
    const before = this.#buckets.get(key) ?? { left: rate, atMs: nowMs }
    // A clock that was set back fills nothing.
    const left = Math.min(rate, before.left + (Math.max(0, nowMs - before.atMs) * rate) / MINUTE_MS)
    const bucket = { left, atMs: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
  }
}

const shareOf = (perMinute: number): number => Math.max(1, Math.ceil(perMinute / 3))
