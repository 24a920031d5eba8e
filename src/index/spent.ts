import { existsSync } from 'node:fs'
import { openToRead } from '../disk/index.js'
import { DAY_MS } from '../model/index.js'

/** What a session has cost so far, as the ledger last settled it. */
export interface Spent {
  calls: number
  /** Input, output and cache, all together. */
  tokens: number
  /** What was sent and neither read from nor written to the prompt cache. */
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  /** Whole micro-dollars of everything that has a price. */
  micro_usd: number
  /** Calls without a known price: not in `micro_usd`, and not free. */
  unpriced_calls: number
  /** What the last call sent, from the cache or not: how full the conversation is. A sub-agent's call may be the last. */
  context_tokens: number
}

/**
 * For lists: one indexed look-up per session in the ledger's file, opened read-only and only if it is there. It stands here and not beside
 * the ledger so that a list loads neither prices nor readers of logs; the columns are those of `ledger_cells` in `src/ingest`.
 */
export function spentBySession(path: string, sessions: readonly string[]): Map<string, Spent> {
  const found = new Map<string, Spent>()
  if (sessions.length === 0 || !existsSync(path)) return found
  const database = openToRead(path)
  try {
    // Another process may be making it at this moment.
    if (!database.prepare(HAS_CELLS).get()) return found
    const statement = database.prepare(SPENT)
    const lastCall = database.prepare(LAST_CALL)
    for (const session of sessions) {
      const row = statement.get(session) as
        | (Omit<Spent, 'micro_usd' | 'context_tokens'> & { nano_usd: number })
        | undefined
      if (row?.calls) {
        const { nano_usd, ...spent } = row
        const last = lastCall.get(session) as { sent: number } | undefined
        found.set(session, { ...spent, micro_usd: Math.round(nano_usd / 1_000), context_tokens: last?.sent ?? 0 })
      }
    }
  } finally {
    database.close()
  }
  return found
}

/** What was spent in some sessions, or in all, on one local day or ever. */
export interface SpentSum {
  /** The local day; undefined for all of them. */
  day?: string
  micro_usd: number
  tokens: number
  unpriced_calls: number
  unpriced_tokens: number
}

/** For budgets: one sum over the ledger's cells. Days are those of the zone in which the ledger was settled. */
export function spentIn(path: string, sessions: readonly string[] | undefined, todayMs: number | undefined): SpentSum {
  const none = { micro_usd: 0, tokens: 0, unpriced_calls: 0, unpriced_tokens: 0 }
  if (!existsSync(path)) return { ...none, ...(todayMs === undefined ? {} : { day: dayOf(todayMs, 'UTC') }) }
  const database = openToRead(path)
  try {
    if (!database.prepare(HAS_CELLS).get()) return none
    const zone = database.prepare("select value from ledger_facts where name = 'zone'").get() as
      | { value: string }
      | undefined
    const day = todayMs === undefined ? undefined : dayOf(todayMs, zone?.value ?? 'UTC')
    const row = database
      .prepare(SPENT_IN)
      .get(
        day === undefined ? null : Date.parse(day) / DAY_MS,
        sessions === undefined ? null : JSON.stringify(sessions),
      ) as Record<string, number | null> | undefined
    return {
      ...(day === undefined ? {} : { day }),
      micro_usd: Math.round((row?.nano_usd ?? 0) / 1_000),
      tokens: row?.tokens ?? 0,
      unpriced_calls: row?.unpriced_calls ?? 0,
      unpriced_tokens: row?.unpriced_tokens ?? 0,
    }
  } finally {
    database.close()
  }
}

/** `2026-01-17`, as it is there. */
const dayOf = (ms: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(ms)

/** Which prices of the user's own the sums were made with, as `PriceBook` writes them; undefined where there are no sums yet. */
export function settledOverrides(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const database = openToRead(path)
  try {
    if (!database.prepare(HAS_CELLS).get()) return undefined
    const row = database.prepare("select value from ledger_facts where name = 'prices'").get()
    const version = (row as { value: string } | undefined)?.value
    return version?.slice(version.indexOf(' [') + 1)
  } finally {
    database.close()
  }
}

const HAS_CELLS = "select 1 from sqlite_master where name = 'ledger_cells'"

const SPENT = `select sum(calls) as calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens) as tokens,
  sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
  sum(cache_write_5m_tokens + cache_write_1h_tokens) as cache_write_tokens,
  sum(tokens_nano_usd + web_search_nano_usd) as nano_usd, sum(unpriced_calls) as unpriced_calls
  from ledger_cells where session = ?`

const SPENT_IN = `select
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens) as tokens,
  sum(tokens_nano_usd + web_search_nano_usd) as nano_usd, sum(unpriced_calls) as unpriced_calls,
  sum(unpriced_tokens) as unpriced_tokens
  from ledger_cells where (?1 is null or day = ?1) and (?2 is null or session in (select value from json_each(?2)))`

const LAST_CALL = `select input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens as sent
  from ledger_calls where session = ? order by at_ms desc limit 1`
