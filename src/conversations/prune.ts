import type { KeyKind } from './key.js'
import type { Row } from './rows/rows.js'

export interface PruneOptions {
  /** Conversations without activity for this long go. */
  olderThanMs?: number
  /** Of the rest, the least recently active beyond this number go; those made by programs (subagent, cron, hook) first. */
  maxEntries?: number
  /** Only these kinds. */
  kinds?: readonly KeyKind[]
  dryRun?: boolean
  destroyTranscripts?: boolean
}

export interface PruneReceipt {
  pruned: { key: string; reason: 'old' | 'over-limit'; updatedAt: number }[]
  /** Conversations that were to go but are in use; they stay. */
  busy: string[]
  kept: number
}

const MADE_BY_PROGRAMS: readonly KeyKind[] = ['subagent', 'cron', 'hook']

/** Which rows go, and why. Pure: the dry run and the real one cannot differ. */
export function chooseForPruning(
  rows: readonly Row[],
  kindOf: (row: Row) => KeyKind,
  options: PruneOptions,
  nowMs: number,
): { row: Row; reason: 'old' | 'over-limit' }[] {
  const candidates = rows.filter((row) => !options.kinds || options.kinds.includes(kindOf(row)))
  const isOld = (row: Row) => options.olderThanMs !== undefined && nowMs - row.entry.updatedAt > options.olderThanMs
  const old = candidates.filter(isOld)
  const left = rows.length - old.length
  const excess = options.maxEntries === undefined ? 0 : Math.max(0, left - options.maxEntries)
  const worth = (row: Row) => (MADE_BY_PROGRAMS.includes(kindOf(row)) ? 0 : 1)
  const rest = candidates.filter((row) => !isOld(row))
  const least = rest.sort((a, b) => worth(a) - worth(b) || a.entry.updatedAt - b.entry.updatedAt).slice(0, excess)
  return [
    ...old.map((row) => ({ row, reason: 'old' as const })),
    ...least.map((row) => ({ row, reason: 'over-limit' as const })),
  ]
}
