import { diskWarning, type Home, readUpkeepNote, type UpkeepNote, writeUpkeepNote } from '../../home/index.js'

/** How often expired snapshots are looked for. */
export const TIDY_MS = 3_600_000

/** Whether it is time again; what a clock that was set back left in the future counts as old. */
export function isTidyDue({ paths }: Pick<Home, 'paths'>, nowMs: number): boolean {
  const note = readUpkeepNote(paths.snapshots)
  const ageMs = note ? nowMs - Date.parse(note.at) : Number.POSITIVE_INFINITY
  return ageMs >= TIDY_MS || ageMs < 0
}

/**
 * Removes snapshots whose time is up, packs stores that have grown, and warns when they take half of what they may: once, with an event, until
 * they take less. Returns the warning when it is new.
 */
export async function tidySnapshots(home: Home, nowMs: number): Promise<string | undefined> {
  const before = readUpkeepNote(home.paths.snapshots)
  const gone = await home.history.expiredSnapshots(nowMs)
  if (gone.length > 0) await home.snapshots.remove(gone)
  await home.snapshots.collect({ onlyDue: true })
  const [stores, { mostDiskBytes: max_bytes }] = await Promise.all([home.snapshots.stats(), home.programs.turns()])
  const use = { bytes: stores.reduce((sum, one) => sum + one.bytes, 0), max_bytes }
  const at = new Date(nowMs).toISOString()
  const warning = diskWarning(use)
  const note: UpkeepNote = { at, ...use, ...(warning === undefined ? {} : { warned_at: before?.warned_at ?? at }) }
  const isNew = warning !== undefined && before?.warned_at === undefined
  if (isNew) await home.events.append({ type: 'snapshots_warned', payload: { ...use, reason: warning } })
  writeUpkeepNote(home.paths.snapshots, note)
  return isNew ? warning : undefined
}
