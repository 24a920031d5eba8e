import type { Home } from '../../home/index.js'

const MB = 1_000_000

/** Removes snapshots whose time is up, packs stores that have grown, and warns when they take half of what they may. Returns the warning. */
export async function tidySnapshots(home: Home, nowMs: number): Promise<string | undefined> {
  const gone = await home.history.expiredSnapshots(nowMs)
  if (gone.length > 0) await home.snapshots.remove(gone)
  await home.snapshots.collect({ onlyDue: true })
  const [stores, { mostDiskBytes }] = await Promise.all([home.snapshots.stats(), home.programs.turns()])
  const bytes = stores.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes * 2 < mostDiskBytes) return undefined
  const [used, most] = [Math.round(bytes / MB), Math.round(mostDiskBytes / MB)]
  return `snapshots take ${used} MB of ${most} MB (turns.max_disk): skein snapshots stats`
}
