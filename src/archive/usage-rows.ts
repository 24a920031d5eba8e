import { largerUsage, type UsageCall } from '../model/index.js'
import type { Fact } from '../tools/index.js'

type UsageFact = Extract<Fact, { kind: 'usage' }>

/** Stands for what the call before it says, or for a time that is the fact's. */
const SAME = 0

type UsageRow = [
  ...[message: string, request: string | null, session: string | 0, model: string | 0, ts: string | 0],
  ...[input: number, output: number, cacheRead: number, cacheWrite5m: number, cacheWrite1h: number, searches: number],
  ...[tier: string | null, speed: string | null, cost: number | null],
]

/** Model calls as short lists: by their names they would be a third of what is kept of a log. One for each list of facts, in its order. */
export class UsageRows {
  #session: string | undefined
  #model: string | undefined

  rowOf({ usage, at }: UsageFact): UsageRow {
    const session = usage.session === this.#session ? SAME : usage.session
    const model = usage.model === this.#model ? SAME : usage.model
    this.#session = usage.session
    this.#model = usage.model
    return [
      usage.message_id,
      usage.request_id ?? null,
      session,
      model,
      usage.ts === at ? SAME : usage.ts,
      usage.input_tokens,
      usage.output_tokens,
      usage.cache_read_tokens,
      usage.cache_write_5m_tokens,
      usage.cache_write_1h_tokens,
      usage.web_search_requests,
      usage.service_tier ?? null,
      usage.speed ?? null,
      usage.cost_usd ?? null,
    ]
  }

  usageOf(row: UsageRow, at: UsageFact['at']): UsageCall {
    const [message_id, request_id, session, model, ts, input, output, cacheRead, write5m, write1h, searches] = row
    const [tier, speed, cost] = row.slice(11) as [string | null, string | null, number | null]
    this.#session = session === SAME ? this.#session : session
    this.#model = model === SAME ? this.#model : model
    return {
      message_id,
      session: this.#session as UsageCall['session'],
      model: this.#model ?? '',
      ts: (ts === SAME ? at : ts) as UsageCall['ts'],
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cacheRead,
      cache_write_5m_tokens: write5m,
      cache_write_1h_tokens: write1h,
      web_search_requests: searches,
      ...(request_id === null ? {} : { request_id }),
      ...(tier === null ? {} : { service_tier: tier }),
      ...(speed === null ? {} : { speed }),
      ...(cost === null ? {} : { cost_usd: cost }),
    }
  }
}

/**
 * Without what a later fact of the same turn says more of: a reply that was streamed is told twice. The later one takes the earlier
 * time, which is the one that counts.
 */
export function latestUsage(facts: readonly Fact[]): readonly Fact[] {
  const newest = new Map<string, UsageFact>()
  const instead = new Map<Fact, UsageFact | undefined>()
  for (const fact of facts) {
    if (fact.kind !== 'usage') continue
    const before = newest.get(fact.usage.message_id)
    newest.set(fact.usage.message_id, fact)
    if (!before || !isNextTo(before, fact) || largerUsage(before.usage, fact.usage) !== fact.usage) continue
    const { ts } = (instead.get(before) ?? before).usage
    instead.set(before, undefined)
    instead.set(fact, ts < fact.usage.ts ? { ...fact, usage: { ...fact.usage, ts } } : fact)
  }
  if (instead.size === 0) return facts
  const latest: Fact[] = []
  for (const fact of facts) {
    const told = fact.kind === 'usage' && instead.has(fact) ? instead.get(fact) : fact
    if (told) latest.push(told)
  }
  return latest
}

/** Both belong to the same turn, and the second is not older: the time of a turn's last fact is the end of the turn. */
const isNextTo = (a: UsageFact, b: UsageFact): boolean =>
  a.turn === b.turn &&
  a.agent === b.agent &&
  a.copied === b.copied &&
  a.copied_from === b.copied_from &&
  a.made === b.made &&
  (a.at ?? '') <= (b.at ?? '')
