import type { UsageRecord } from '../../tools/index.js'
import { compare, fullerRecord } from './usage-record.js'

/** A call as it counts: its fullest telling, its earliest time, and in `session` the one session that owns it. */
export type Call = UsageRecord

interface Entry {
  telling: UsageRecord
  atMs: number
  /** Every session whose log holds the call; absent while there is only one, the telling's. */
  holders?: Set<string>
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
      entries.set(telling.call, { telling, atMs: telling.at_ms })
      return
    }
    if (known.holders) known.holders.add(telling.session)
    else if (known.telling.session !== telling.session) {
      known.holders = new Set([known.telling.session, telling.session])
      this.#copied.push(known)
    }
    if (telling.at_ms < known.atMs) known.atMs = telling.at_ms
    known.telling = fullerRecord(known.telling, telling)
  }

  calls(): Call[] {
    const owners = this.#owners()
    const calls: Call[] = []
    for (const entries of this.#tools.values()) {
      for (const entry of entries.values()) {
        const { telling, atMs } = entry
        const session = entry.holders ? (owners.get(entry) ?? telling.session) : telling.session
        const isAsTold = session === telling.session && atMs === telling.at_ms
        calls.push(isAsTold ? telling : { ...telling, session, at_ms: atMs })
      }
    }
    return calls
  }

  #owners(): Map<Entry, string> {
    const owners = new Map<Entry, string>()
    if (this.#copied.length === 0) return owners
    const firstOwnMs = new Map<string, number>()
    const concerned = new Set(this.#copied.flatMap((entry) => [...(entry.holders ?? [])]))
    for (const entries of this.#tools.values()) {
      for (const { telling, atMs, holders } of entries.values()) {
        if (holders || !concerned.has(telling.session)) continue
        const first = firstOwnMs.get(telling.session)
        if (first === undefined || atMs < first) firstOwnMs.set(telling.session, atMs)
      }
    }
    for (const entry of this.#copied) owners.set(entry, ownerOf(entry.holders ?? [], firstOwnMs))
    return owners
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

/**
 * A call that several sessions hold was made by the earliest of them and copied into the others. Copies keep the time of the
 * original, so what tells the sessions apart is the time of the first call that a session shares with no other. One without such a
 * call comes first: a fork always goes on from what it copied, so it is the original that ends there. Then by id.
 */
export function ownerOf(holders: Iterable<string>, firstOwnMs: ReadonlyMap<string, number>): string {
  const age = (session: string): number => firstOwnMs.get(session) ?? Number.NEGATIVE_INFINITY
  let owner: string | undefined
  for (const session of holders) {
    const isEarlier = owner === undefined || age(session) < age(owner)
    const isTied = owner !== undefined && age(session) === age(owner) && compare(session, owner) < 0
    if (isEarlier || isTied) owner = session
  }
  if (owner === undefined) throw new Error('a call without a session')
  return owner
}
