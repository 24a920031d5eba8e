import type { UsageRecord } from '../../tools/index.js'
import { compare, fullerRecord } from './usage-record.js'

/** A call as it counts: its fullest telling, its earliest time, and in `session` the one session that owns it. */
export type Call = Omit<UsageRecord, 'copied' | 'made'>

interface Entry {
  telling: UsageRecord
  atMs: number
  /** Whether that session's log shows that it made it. */
  isMade: boolean
  /** Absent while one session has it, the telling's, and says that it is its own. */
  held?: Held
}

/** Who has a call in a log. */
export interface Held {
  /** Every session whose log has it. */
  holders: Set<string>
  /** Those of them whose log shows that they made it. */
  makers: Set<string>
  /** Those of them whose log says that it was copied, with the time at which they began. */
  copies: Map<string, number>
  /** The sessions that were named as those it was copied from. */
  origins: Set<string>
}

/**
 * Folds tellings into calls. The result depends on the set of tellings only: not on their order, nor on how often each came.
 */
export class Ledger {
  readonly #tools = new Map<string, Map<string, Entry>>()
  readonly #copied: Entry[] = []
  #tool = ''
  #entries = new Map<string, Entry>()

  tell(telling: UsageRecord): void {
    const entries = telling.tool === this.#tool ? this.#entries : this.#select(telling.tool)
    const known = entries.get(telling.call)
    if (!known) {
      const entry: Entry = { telling, atMs: telling.at_ms, isMade: telling.made === true }
      entries.set(telling.call, entry)
      if (telling.copied) this.#hold(entry, telling)
      return
    }
    if (known.held || telling.copied || known.telling.session !== telling.session) this.#hold(known, telling)
    else if (telling.made) known.isMade = true
    if (telling.at_ms < known.atMs) known.atMs = telling.at_ms
    known.telling = fullerRecord(known.telling, telling)
  }

  calls(): Call[] {
    const owners = this.#owners()
    const calls: Call[] = []
    for (const entries of this.#tools.values()) {
      for (const entry of entries.values()) {
        const { telling, atMs } = entry
        const session = owners.get(entry) ?? telling.session
        const isAsTold = session === telling.session && atMs === telling.at_ms && !telling.copied && !telling.made
        calls.push(isAsTold ? telling : asOwned(telling, session, atMs))
      }
    }
    return calls
  }

  #owners(): Map<Entry, string> {
    const owners = new Map<Entry, string>()
    if (this.#copied.length === 0) return owners
    const firstOwnMs = new Map<string, number>()
    const concerned = new Set(this.#copied.flatMap(({ held }) => [...(held?.holders ?? [])]))
    for (const entries of this.#tools.values()) {
      for (const { telling, atMs, held } of entries.values()) {
        if (held || !concerned.has(telling.session)) continue
        const first = firstOwnMs.get(telling.session)
        if (first === undefined || atMs < first) firstOwnMs.set(telling.session, atMs)
      }
    }
    for (const entry of this.#copied) if (entry.held) owners.set(entry, ownerOf(entry.held, firstOwnMs))
    return owners
  }

  #hold(entry: Entry, { session, copied, made }: UsageRecord): void {
    if (!entry.held) {
      const first = [entry.telling.session]
      const makers = new Set(entry.isMade ? first : [])
      entry.held = { holders: new Set(first), makers, copies: new Map(), origins: new Set() }
      this.#copied.push(entry)
    }
    const { holders, makers, copies, origins } = entry.held
    holders.add(session)
    if (made) makers.add(session)
    if (!copied) return
    copies.set(session, Math.min(copied.into_ms ?? UNKNOWN_MS, copies.get(session) ?? UNKNOWN_MS))
    if (copied.from !== undefined) origins.add(copied.from)
  }

  #select(tool: string): Map<string, Entry> {
    let entries = this.#tools.get(tool)
    if (!entries) {
      entries = new Map()
      this.#tools.set(tool, entries)
    }
    this.#tool = tool
    this.#entries = entries
    return entries
  }
}

/** As the beginning of a session: its log does not tell. */
export const UNKNOWN_MS = Number.MAX_SAFE_INTEGER

/** Field by field: most calls of a log come here, and a spread takes several times as long. */
const asOwned = (telling: UsageRecord, session: string, at_ms: number): Call => ({
  tool: telling.tool,
  call: telling.call,
  session,
  model: telling.model,
  at_ms,
  input_tokens: telling.input_tokens,
  output_tokens: telling.output_tokens,
  cache_read_tokens: telling.cache_read_tokens,
  cache_write_5m_tokens: telling.cache_write_5m_tokens,
  cache_write_1h_tokens: telling.cache_write_1h_tokens,
  web_search_requests: telling.web_search_requests,
  service_tier: telling.service_tier,
  speed: telling.speed,
  logged_nano_usd: telling.logged_nano_usd,
})

/**
 * A call was made by one session and copied into the others that hold it. Where a log says which of its calls were copied, its session
 * has made none of these. Of the others it is one whose log shows the requests, if any does. Else it is the earliest: copies keep the time of the original, so what tells sessions apart is the
 * time of the first call that a session shares with no other. One without such a call comes first: what is not known to be a copy and
 * went no further is the original that ends there. If only copies are left, the session that one of them names has made it; if none
 * does, the call counts for the oldest of the copies, because it was paid for. Ties are broken by id.
 */
export function ownerOf(
  { holders, makers: shown, copies, origins }: Held,
  firstOwnMs: ReadonlyMap<string, number>,
): string {
  const age = (session: string): number => firstOwnMs.get(session) ?? Number.NEGATIVE_INFINITY
  const born = (session: string): number => copies.get(session) ?? UNKNOWN_MS
  const others = (sessions: ReadonlySet<string>): string[] => [...sessions].filter((session) => !copies.has(session))
  const known = others(shown)
  const makers = known.length > 0 ? known : others(holders)
  const [owner] =
    makers.length > 0
      ? makers.sort((a, b) => (age(a) === age(b) ? compare(a, b) : age(a) < age(b) ? -1 : 1))
      : [...others(origins).sort(compare), ...[...holders].sort((a, b) => born(a) - born(b) || compare(a, b))]
  if (owner === undefined) throw new Error('a call without a session')
  return owner
}
