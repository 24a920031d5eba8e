import type { SessionId } from '../model/index.js'
import { expired, type Snapshot, type SnapshotBook } from '../snapshots/index.js'
import type { StoredSessions } from '../store/index.js'
import { codedTurns } from './coded-turns.js'
import type { SessionHistory } from './history-api.js'

interface ExpiryParts {
  sessions: Pick<StoredSessions, 'get' | 'query'>
  snapshots: SnapshotBook
  turns(session: string): Promise<SessionHistory>
}

/** What a fork began with, what a handoff left and what people pinned or noted is kept for as long as the sessions are. */
export async function expiredSnapshots(parts: ExpiryParts, nowMs: number): Promise<Snapshot[]> {
  const all = await parts.snapshots.list()
  const old = expired(all, nowMs)
  if (old.length === 0) return []
  const kept = new Set<string>()
  const forks = await forkedTurns(parts)
  for (const session of new Set(old.map((one) => one.session))) {
    const own = all.filter((one) => one.session === session)
    const known = await parts.sessions.get(session)
    const last = own.findLast(({ moment }) => moment === 'stop')
    if (known?.child_id !== undefined && last) kept.add(last.commit)
    const numbers = new Set(forks.get(session as SessionId))
    for (const { turn } of known?.turn_marks ?? []) numbers.add(turn)
    if (numbers.size === 0) continue
    const { turns } = await parts.turns(session)
    for (const { turn, before, after } of codedTurns(turns, own))
      for (const one of numbers.has(turn) || numbers.has(undefined) ? [before, after] : [])
        if (one) kept.add(one.commit)
  }
  return expired(all, nowMs, ({ commit }) => kept.has(commit))
}

/** The turns that sessions were forked at, by the session that they are of; undefined for a fork that names no turn. */
async function forkedTurns({ sessions }: ExpiryParts): Promise<Map<SessionId, Set<number | undefined>>> {
  const found = new Map<SessionId, Set<number | undefined>>()
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.query({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const { forked_from } of page.sessions)
      if (forked_from)
        found.set(forked_from.session, (found.get(forked_from.session) ?? new Set()).add(forked_from.turn))
    cursor = page.next_cursor
    if (cursor === undefined) return found
  }
}

const PAGE = 1_000
