import type { Home } from '../../home/index.js'

/** Removes what the settings no longer keep, when that is due: events, and logs in the archive. Records of old sessions are packed. */
export async function retain(home: Home): Promise<void> {
  const { skipped } = await home.events.prune({ auto: true })
  if (!skipped) await home.archive.prune()
}
