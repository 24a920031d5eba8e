import type { AgentName } from '../agent-name.js'
import { cacheTtlMs } from '../environment.js'
import { type ConversationKey, type KeyParts, parseKey } from '../key.js'
import type { LockOptions } from './lock-file.js'
import { type ConversationRows, checkExpected, type Row, type RowFilter, type Step, selectRows } from './rows.js'
import { StoreCache } from './store-cache.js'
import { checkNewEntries, readStore, revisionOf, type SessionStore, writeStore } from './store-file.js'
import { withStoreLock } from './store-lock.js'

/** Conversations in the original's `sessions.json`: every change reads and writes the whole file, under its lock file. */
export class FileRows implements ConversationRows {
  readonly #cache: StoreCache

  constructor(
    private readonly path: string,
    private readonly agent: AgentName,
    private readonly options: LockOptions & { cacheTtlMs?: number } = {},
  ) {
    this.#cache = new StoreCache(() => options.cacheTtlMs ?? cacheTtlMs())
  }

  async get(key: ConversationKey): Promise<Row | undefined> {
    const row = rowIn(this.#cache.peek(this.path), key)
    return row && structuredClone(row)
  }

  async change(steps: readonly Step[]): Promise<(Row | undefined)[]> {
    return withStoreLock(
      this.path,
      () => {
        const store = readStore(this.path)
        const changes = steps.map((step) => apply(store, step))
        if (changes.some((change) => change.isNew)) {
          writeStore(this.path, store)
          this.#cache.forget(this.path)
        }
        return changes.map((change) => change.row)
      },
      this.options,
    )
  }

  async list(filter: RowFilter = {}): Promise<Row[]> {
    const store = this.#cache.peek(this.path)
    const rows = new Map<ConversationKey, Row>()
    for (const spelled of Object.keys(store)) {
      const parts = readable(spelled)
      const entry = store[spelled]
      if (!entry || parts?.agent !== this.agent) continue
      const rival = rows.get(parts.key)?.entry
      const isBetter = !rival || spelled === parts.key || (!store[parts.key] && entry.updatedAt > rival.updatedAt)
      if (isBetter) rows.set(parts.key, { key: parts.key, revision: '', entry })
    }
    return selectRows([...rows.values()], filter).map((row) =>
      structuredClone({ ...row, revision: revisionOf(row.entry) }),
    )
  }

  [Symbol.dispose](): void {
    this.#cache.clear()
  }
}

function apply(store: SessionStore, step: Step): { row: Row | undefined; isNew: boolean } {
  const current = rowIn(store, step.key)
  checkExpected(step, current)
  const entry = step.decide(current && structuredClone(current))
  const spelled = spellingOf(store, step.key) ?? step.key
  if (entry === undefined) {
    delete store[spelled]
    return { row: undefined, isNew: current !== undefined }
  }
  const revision = revisionOf(entry)
  if (revision === current?.revision) return { row: current, isNew: false }
  checkNewEntries({ [spelled]: entry }, new Map([[spelled, current?.entry.sessionId ?? '']]))
  store[spelled] = entry
  return { row: { key: step.key, revision, entry }, isNew: true }
}

function rowIn(store: SessionStore, key: ConversationKey): Row | undefined {
  const spelled = spellingOf(store, key)
  const entry = spelled === undefined ? undefined : store[spelled]
  return entry && { key, revision: revisionOf(entry), entry }
}

/**
 * How this file spells a key: as we do, or in an older way (`direct` for `dm`, capitals). An older spelling is kept on
 * writing, because the program that chose it looks for it. Only a key that is not found as it is costs a walk over all keys.
 */
function spellingOf(store: SessionStore, key: ConversationKey): string | undefined {
  if (store[key]) return key
  const tail = key.slice(-4).toLowerCase()
  const others = Object.keys(store).filter(
    (spelled) => spelled.slice(-4).toLowerCase() === tail && readable(spelled)?.key === key,
  )
  return others.sort((a, b) => (store[b]?.updatedAt ?? 0) - (store[a]?.updatedAt ?? 0))[0]
}

/** Files of the original also hold bare keys ("global") and odd ones. They are no conversation of ours, and stay in the file. */
function readable(spelled: string): KeyParts | undefined {
  try {
    return parseKey(spelled)
  } catch {
    return undefined
  }
}
