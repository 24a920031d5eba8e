import { type FSWatcher, watch } from 'node:fs'
import { makeDirectory } from '../../disk/index.js'

/** A watch can be lost or never be had (network file systems, no watches left): then this is how often one looks. */
const LOOK_MS = 2_000

/** A directory that is not there yet is looked for this often: its program may make it at any moment. */
const SEEK_MS = 1_000

/**
 * Calls `onChange` with the name of what changed in a directory, or without one when only a look will tell: when changes
 * may have been missed, and every few seconds, in case.
 */
export class WatchedDirectory implements Disposable {
  #watcher: FSWatcher | undefined
  readonly #timer: NodeJS.Timeout
  #seeking: NodeJS.Timeout | undefined

  constructor(
    private readonly directory: string,
    private readonly onChange: (name?: string) => void,
    private readonly options: { make?: boolean; lookMs?: number; onFound?: () => void } = {},
  ) {
    if (options.make) makeDirectory(directory)
    this.#watch()
    if (!this.#watcher) this.#seek()
    this.#timer = setInterval(() => {
      if (!this.#watcher) this.#watch()
      this.onChange()
    }, options.lookMs ?? LOOK_MS)
  }

  /** What happened in it before it was found, nobody has told. */
  #seek(): void {
    this.#seeking = setInterval(() => {
      this.#watch()
      if (!this.#watcher) return
      clearInterval(this.#seeking)
      this.options.onFound?.()
    }, SEEK_MS)
  }

  #watch(): void {
    try {
      const watcher = watch(this.directory, { persistent: false }, (_, name) => this.onChange(name ?? undefined))
      const lost = (): void => {
        watcher.close()
        if (this.#watcher === watcher) this.#watcher = undefined
      }
      watcher.on('error', lost)
      this.#watcher = watcher
    } catch {
      this.#watcher = undefined // it is not there yet, or cannot be watched
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    clearInterval(this.#seeking)
    this.#watcher?.close()
  }
}
