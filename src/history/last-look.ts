import type { LedgerStore } from '../ingest/index.js'

/** Longer than a watcher waits between two full looks. */
const JUST_LOOKED_MS = 30_000
const LOOKED_AT = 'looked_at'

/**
 * Asking every log of a year whether it has grown takes longer than the answer from the ledger. Within this time nobody asks again:
 * two questions in a row, or a watcher that looks more often than that, make the second one immediate.
 */
export function hasJustLooked(ledger: LedgerStore, nowMs: number): boolean {
  const age = nowMs - Number(ledger.fact(LOOKED_AT) ?? Number.NEGATIVE_INFINITY)
  return age >= 0 && age < JUST_LOOKED_MS
}

export function noteLook(ledger: LedgerStore, nowMs: number): void {
  ledger.setFact(LOOKED_AT, String(nowMs))
}
