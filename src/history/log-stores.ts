import { existsSync, renameSync } from 'node:fs'
import { basename } from 'node:path'
import { explainDiskError, isDamage, openToRead } from '../disk/index.js'
import type { HistoryStore, TextStore } from '../ingest/index.js'
import type { ProfileStore } from '../store/index.js'
import { dropForeignLink, FILLED_AGAIN, newGeneration, pointTo, setAsideGeneration } from '../store/index.js'
import type { OpenStores } from './pending-logs.js'

/** Damaged ones that are kept. A history may know of spending that no log tells any more. */
const KEPT = { history: Number.POSITIVE_INFINITY, text: 2 }

type StoreName = 'history' | 'text'

/**
 * What is made of the tools' logs: the archive, and the two databases derived from logs and archive. They are loaded when
 * something is asked of them, and the archive apart: a search and a sum of what was spent do without it.
 */
export class LogStores {
  constructor(
    private readonly store: ProfileStore,
    /** Fills a database again after it was set aside. */
    private readonly refill: () => Promise<unknown>,
  ) {}

  /** Whether anything was ever read. */
  isThere(): boolean {
    const { history, text, words } = this.store.paths
    return [history, text, words].some((path) => existsSync(path))
  }

  async withHistory<T>(use: (history: HistoryStore) => T | Promise<T>): Promise<T> {
    return this.#mending(['history'], async () => {
      const { HistoryStore } = await import('../ingest/index.js')
      using history = HistoryStore.open(this.store.paths.history)
      return await use(history)
    })
  }

  /** Questions only, which can be asked where nothing can be written. `otherwise` when nothing was ever ingested. */
  async askHistory<T>(question: (history: HistoryStore) => T, otherwise: T): Promise<T> {
    if (!existsSync(this.store.paths.history)) return otherwise
    if (!this.store.options.readOnly) return this.withHistory(question)
    const { HistoryStore } = await import('../ingest/index.js')
    using history = this.#explaining('history', () => HistoryStore.read(this.store.paths.history))
    return history ? await question(history) : otherwise
  }

  async askText<T>(question: (text: TextStore) => T, otherwise: T): Promise<T> {
    const { text: path } = this.store.paths
    if (!existsSync(path)) return otherwise
    const { TextStore } = await import('../ingest/index.js')
    if (this.store.options.readOnly) {
      using text = this.#explaining('text', () => TextStore.read(path))
      return text ? await question(text) : otherwise
    }
    return this.#mending(['text'], async () => {
      using text = TextStore.open(path)
      return await question(text)
    })
  }

  async withAll<T>(use: (stores: OpenStores) => Promise<T>): Promise<T> {
    return this.#mending(['history', 'text'], () => this.openAll(use))
  }

  /** The same without mending, for whoever mends. */
  async openAll<T>(use: (stores: OpenStores) => Promise<T>): Promise<T> {
    const { Archive } = await import('../archive/index.js')
    const { HistoryStore, TextStore } = await import('../ingest/index.js')
    using archive = new Archive(this.store.paths.words, this.store.context)
    using history = HistoryStore.open(this.store.paths.history)
    using text = TextStore.open(this.store.paths.text)
    return await use({ history, text, archive })
  }

  /** A new `text.db`, filled by `fill` and then put in the place of the old one, which answers until then. */
  async replaceText(fill: (fresh: TextStore, old: TextStore | undefined) => Promise<void>): Promise<void> {
    const { TextStore } = await import('../ingest/index.js')
    const { text: path } = this.store.paths
    const fresh = newGeneration(path, this.store.context.random.uuid())
    await this.#mending(['text'], async () => {
      using old = existsSync(path) ? TextStore.open(path) : undefined
      using text = TextStore.open(fresh)
      await fill(text, old)
    })
    pointTo(path, fresh)
  }

  #explaining<T>(name: StoreName, open: () => T): T {
    try {
      return open()
    } catch (error) {
      throw explainDiskError(error, this.store.paths[name], FILLED_AGAIN)
    }
  }

  /** Runs something on databases; if one turns out to be damaged, sets it aside, fills a new one, and runs it once more. */
  async #mending<T>(involved: readonly StoreName[], use: () => Promise<T>): Promise<T> {
    const path = this.store.paths[involved.at(-1) ?? 'history']
    for (const name of involved) dropForeignLink(this.store.paths[name])
    try {
      try {
        return await use()
      } catch (error) {
        if (!isDamage(error)) throw error
        // Several questions of one moment notice it at once; one of them does the work for all.
        this.#mend ??= this.#setAside(involved)
          .then(this.refill)
          .finally(() => {
            this.#mend = undefined
          })
        await this.#mend
        return await use()
      }
    } catch (error) {
      throw explainDiskError(error, path, FILLED_AGAIN)
    }
  }

  #mend: Promise<unknown> | undefined

  /** Under the writer lock: of several processes that notice, the first one does it. */
  async #setAside(involved: readonly StoreName[]): Promise<void> {
    const { HistoryStore, TextStore } = await import('../ingest/index.js')
    await this.store.asWriter(() => {
      const found = involved.filter((name) => isDamagedFile(this.store.paths[name]))
      // Some damage shows in use only; words are the larger part and the easier one to fill again.
      const damaged = found.length > 0 ? found : involved.slice(-1)
      for (const name of damaged) {
        const path = this.store.paths[name]
        const kept = setAsideGeneration(path, this.store.context.clock.now(), KEPT[name])
        // Its log goes with it: a file of another name must not find it.
        for (const side of ['-wal', '-shm']) if (existsSync(path + side)) renameSync(path + side, kept + side)
        const fresh = newGeneration(path, this.store.context.random.uuid())
        const opened = name === 'text' ? TextStore.open(fresh) : HistoryStore.open(fresh)
        opened[Symbol.dispose]()
        pointTo(path, fresh)
        this.store.context.warn(
          `${basename(path)} was damaged and is kept as ${basename(kept)}; a new one is filled from the logs and the archive`,
        )
      }
    })
  }
}

/** Reads all of it: nobody does this but when something was found damaged. */
function isDamagedFile(path: string): boolean {
  try {
    const database = openToRead(path)
    try {
      const [row] = database.prepare('pragma integrity_check(1)').all() as { integrity_check: string }[]
      return row?.integrity_check !== 'ok'
    } finally {
      database.close()
    }
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}
