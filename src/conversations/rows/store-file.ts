import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError, makeDirectory, readGuarded, refuseDead, writeAtomic } from '../../disk/index.js'
import { isSessionId, isTooDeep, SkeinError } from '../../model/index.js'
import { type SessionEntry, tidyEntry } from '../entry.js'
import { badKey, flawOf, parseKey } from '../key.js'
import { damaged } from './damaged-store.js'
import type { Revision } from './rows.js'

/** A whole `sessions.json`: key to entry, as the original writes it. */
export type SessionStore = Record<string, SessionEntry>

/** A store is parsed as one text, which is at most this long. */
const MOST_BYTES = 500 * 1024 * 1024

/** Reads a store. No file is an empty store; a file that cannot be understood is an error, and stays. */
export function readStore(path: string): SessionStore {
  let bytes: Buffer
  try {
    bytes = readGuarded(path, { mostBytes: MOST_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Object.create(null) as SessionStore
    throw explainDiskError(error, path)
  }
  if (!isUtf8(bytes)) throw damaged(path, 'it contains bytes that are not text') // decoding would quietly replace them
  return parseStore(bytes.toString(), path)
}

export function parseStore(text: string, path: string): SessionStore {
  if (text.trim() === '') throw damaged(path, 'it is empty')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw damaged(path, (error as Error).message, error)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw damaged(path, 'it is not a JSON object')
  if (isTooDeep(parsed)) throw damaged(path, 'it is nested more than 200 levels deep')
  const store = parsed as Record<string, unknown>
  if (typeof store.version === 'number' || typeof store.version === 'string') {
    throw new SkeinError(
      'newer-format',
      `${path} has version ${store.version}; this Skein supports only files without a version`,
      'Use the program that wrote it; Skein does not change the file',
    )
  }
  // Without a prototype, a key like "__proto__" is a key like any other, and can be seen and refused.
  Object.setPrototypeOf(store, null)
  const left: Record<string, unknown> = Object.create(null)
  for (const key in store) {
    if (tidyEntry(store[key])) continue
    left[key] = store[key]
    delete store[key]
  }
  leftovers.set(store, left)
  return store as SessionStore
}

/** What a file holds besides entries we understand. Nobody is shown it, and it goes back into the file as it was. */
const leftovers = new WeakMap<object, Record<string, unknown>>()

/** The keys of what was in the file and is no entry. */
export const oddKeysIn = (store: SessionStore): string[] => Object.keys(leftovers.get(store) ?? {})

/**
 * Replaces the store: two spaces, no newline at the end, 0600, all or nothing. The caller holds the lock.
 * `found` is what was read from the file before, when `store` is not that very object.
 */
export function writeStore(path: string, store: SessionStore, found: SessionStore = store): void {
  const left = leftovers.get(found)
  const whole = left && Object.keys(left).length > 0 ? Object.assign(Object.create(null), left, store) : store
  try {
    const target = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : path
    makeDirectory(dirname(target))
    writeAtomic(target, JSON.stringify(whole, null, 2), { durable: false })
  } catch (error) {
    throw explainDiskError(error, path)
  }
}

/** Which entry has which session: enough to see what a change brought in. */
export function idsIn(store: SessionStore): Map<string, string> {
  return new Map(Object.keys(store).map((key) => [key, store[key]?.sessionId ?? '']))
}

/**
 * Refuses what must never get into a store: keys that are no keys, ids that would name a file elsewhere.
 * Only what is new is looked at: an odd entry that is in the file already must not block every other change.
 */
export function checkNewEntries(store: SessionStore, before: ReadonlyMap<string, string>): void {
  for (const key in store) {
    const id: unknown = store[key]?.sessionId
    if (before.get(key) === id) continue
    checkStoreKey(key)
    if (!isSessionId(id)) throw badSessionId(key, id)
  }
}

/** Any key of ours, or a bare one ("global", "main"): the original's oldest form. */
export function checkStoreKey(key: string): void {
  const flaw = flawOf(key)
  if (flaw) throw badKey(key, flaw)
  if (/^agent:/i.test(key)) parseKey(key)
}

const badSessionId = (key: string, id: unknown): SkeinError =>
  new SkeinError(
    'bad-id',
    `${JSON.stringify(String(id).slice(0, 100))} cannot be the session id of ${key}`,
    'Use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit',
  )

/** What the file looked like: two states of it differ in at least one of these. */
export function stampOf(path: string): string | undefined {
  try {
    refuseDead(path)
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && `${stat.mtimeNs}/${stat.size}/${stat.ino}`
  } catch (error) {
    throw explainDiskError(error, path)
  }
}

/**
 * The revision of an entry in a file is a hash of what it says: the layout has no room for a counter, and programs that
 * know nothing of revisions write to the same file.
 */
export const revisionOf = (entry: SessionEntry): Revision =>
  createHash('sha256').update(JSON.stringify(entry)).digest('base64url').slice(0, 16)
