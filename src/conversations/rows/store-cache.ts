import { readStore, type SessionStore, stampOf } from './store-file.js'

interface Cached {
  store: SessionStore
  stamp: string | undefined
  loadedAt: number
}

/**
 * Stores read lately. An answer is used only while the file still has the same time, size and inode, and is not older than
 * the limit: within one tick of a coarse file clock a change of equal length could otherwise hide for ever.
 */
export class StoreCache {
  readonly #cached = new Map<string, Cached>()

  constructor(private readonly ttlMs: () => number) {}

  /** The store itself, not a copy: for looking only. */
  peek(path: string): SessionStore {
    const ttlMs = this.ttlMs()
    if (ttlMs === 0) return readStore(path)
    const stamp = stampOf(path)
    const known = this.#cached.get(path)
    if (known && known.stamp === stamp && performance.now() - known.loadedAt <= ttlMs) return known.store
    const store = readStore(path)
    // A change between the stamp and the read leaves an old stamp, which only costs one more read.
    this.#cached.set(path, { store, stamp, loadedAt: performance.now() })
    return store
  }

  forget(path: string): void {
    this.#cached.delete(path)
  }

  clear(): void {
    this.#cached.clear()
  }
}
