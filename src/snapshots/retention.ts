import type { Snapshot } from './snapshot.js'

/** How long snapshots are kept. */
export interface SnapshotRetention {
  /** All of them, for this long. */
  allMs: number
  /** Then the last of each hour of a session, for this long; none after that. */
  hourlyMs: number
}

const DAY_MS = 86_400_000
export const RETENTION: SnapshotRetention = { allMs: 14 * DAY_MS, hourlyMs: 60 * DAY_MS }
const HOUR_MS = 3_600_000

type Dated = Pick<Snapshot, 'session' | 'seq' | 'store' | 'at'>

/**
 * The snapshots whose time is up. Those that something refers to (a fork, a handoff, a mark of the user) are kept, and so is the newest of
 * each session, whatever its age.
 */
export function expired<T extends Dated>(
  snapshots: readonly T[],
  nowMs: number,
  isReferred: (snapshot: T) => boolean = () => false,
  { allMs, hourlyMs }: SnapshotRetention = RETENTION,
): T[] {
  const newest = new Map<string, T>()
  const lastOfHour = new Map<string, T>()
  for (const snapshot of snapshots) {
    keepLater(newest, `${snapshot.store} ${snapshot.session}`, snapshot)
    keepLater(lastOfHour, `${snapshot.store} ${snapshot.session} ${hourOf(snapshot)}`, snapshot)
  }
  const isKept = (snapshot: T): boolean => {
    const age = nowMs - Date.parse(snapshot.at)
    if (age <= allMs || isReferred(snapshot)) return true
    if (newest.get(`${snapshot.store} ${snapshot.session}`) === snapshot) return true
    return age <= hourlyMs && lastOfHour.get(`${snapshot.store} ${snapshot.session} ${hourOf(snapshot)}`) === snapshot
  }
  return snapshots.filter((snapshot) => !isKept(snapshot))
}

const hourOf = ({ at }: Dated): number => Math.floor(Date.parse(at) / HOUR_MS)

function keepLater<T extends Dated>(map: Map<string, T>, key: string, snapshot: T): void {
  const other = map.get(key)
  if (!other || other.at < snapshot.at || (other.at === snapshot.at && other.seq < snapshot.seq)) map.set(key, snapshot)
}
