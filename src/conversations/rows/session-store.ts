import { type EntryPatch, mergeEntry, type SessionEntry } from '../entry.js'
import { cacheTtlMs, systemSurroundings } from '../environment.js'
import type { LockOptions } from './lock-file.js'
import { StoreCache } from './store-cache.js'
import { checkNewEntries, checkStoreKey, idsIn, readStore, type SessionStore, writeStore } from './store-file.js'
import { withStoreLock } from './store-lock.js'

/** The original's functions over one `sessions.json`, by its names and signatures. New code is better served by `ConversationStore`. */

const cache = new StoreCache(cacheTtlMs)

/** The whole store; a copy, so that changing it changes nothing else. */
export function loadSessionStore(storePath: string, opts: { skipCache?: boolean } = {}): SessionStore {
  if (opts.skipCache) return readStore(storePath)
  return Object.setPrototypeOf(structuredClone(cache.peek(storePath)), null) as SessionStore
}

/** Writes the whole store. What others changed since it was loaded is lost: prefer `updateSessionStore`. */
export async function saveSessionStore(storePath: string, store: SessionStore): Promise<void> {
  await withStoreLock(storePath, () => {
    const found = readStore(storePath) // a store that cannot be read is not replaced
    checkNewEntries(store, idsIn(found))
    write(storePath, store, found)
  })
}

/** Reads, changes and writes the store with nobody in between. What the mutator returns is returned. */
export async function updateSessionStore<T>(
  storePath: string,
  mutator: (store: SessionStore) => Promise<T> | T,
): Promise<T> {
  return withStoreLock(storePath, async () => {
    const store = readStore(storePath) // never from the cache: two writes can share a tick of the file clock
    const before = idsIn(store)
    const result = await mutator(store)
    checkNewEntries(store, before)
    write(storePath, store)
    return result
  })
}

/** Changes one entry. `update` returns the fields to change, or null to leave it; the result is null when there is no entry. */
export async function updateSessionStoreEntry(params: {
  storePath: string
  sessionKey: string
  update: (entry: SessionEntry) => Promise<EntryPatch | null> | EntryPatch | null
}): Promise<SessionEntry | null> {
  const { storePath, sessionKey, update } = params
  return withStoreLock(storePath, async () => {
    const store = readStore(storePath)
    const current = store[sessionKey]
    if (!current) return null
    const patch = await update(structuredClone(current))
    if (!patch) return current
    return put(storePath, store, sessionKey, patch)
  })
}

/** Runs `fn` while no other writer can change the store. The functions above may be called inside. */
export async function withSessionStoreLock<T>(
  storePath: string,
  fn: () => Promise<T>,
  opts: LockOptions = {},
): Promise<T> {
  return withStoreLock(storePath, fn, opts)
}

export function clearSessionStoreCacheForTest(): void {
  cache.clear()
}

/** Changes or makes one entry by a decision on what is there now. Null from `decide` changes nothing. */
export async function changeEntry(
  storePath: string,
  sessionKey: string,
  decide: (current: SessionEntry | undefined) => EntryPatch | null,
): Promise<SessionEntry | null> {
  checkStoreKey(sessionKey)
  return withStoreLock(storePath, () => {
    const store = readStore(storePath)
    const patch = decide(store[sessionKey])
    return patch ? put(storePath, store, sessionKey, patch) : (store[sessionKey] ?? null)
  })
}

function put(storePath: string, store: SessionStore, key: string, patch: EntryPatch): SessionEntry {
  const { clock, random } = systemSurroundings
  const entry = mergeEntry(store[key], patch, clock.now(), random.uuid)
  checkNewEntries({ [key]: entry }, idsIn(store))
  store[key] = entry
  write(storePath, store)
  return structuredClone(entry)
}

function write(storePath: string, store: SessionStore, found?: SessionStore): void {
  writeStore(storePath, store, found)
  cache.forget(storePath)
}
