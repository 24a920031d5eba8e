import { forgetRedactions, pendingRedactions, type TextStore } from '../ingest/index.js'
import { isSessionId } from '../model/index.js'
import type { Draft, ProfileStore } from '../store/index.js'

/** Tells the journal what was filtered: one event per session, whatever the size of its log. Returns how many. */
export async function tellRedactions(store: ProfileStore, { db }: TextStore): Promise<number> {
  const pending = pendingRedactions(db)
  if (pending.length === 0) return 0
  const drafts: Draft[] = pending.map(({ session, notice }) => ({
    type: 'privacy_redacted',
    session: isSessionId(session) ? session : undefined,
    payload: notice,
  }))
  await store.change(() => ({ events: drafts, result: () => undefined }))
  forgetRedactions(db, pending)
  return pending.length
}
