import { type FSWatcher, statSync, watch } from 'node:fs'
import { thisProcess } from '../disk/index.js'
import type { DaemonPlace } from './place.js'
import { readRecord } from './record.js'

const LOOK_MS = 5_000

/**
 * Calls `onGone` when the home is no longer there, or is another one: a daemon without its home would keep files open that nobody can see,
 * and make a half-empty home again with its first write. The same when its record is gone, for then nobody would find it.
 */
export class HomeGuard implements Disposable {
  readonly #inode: number | undefined
  readonly #timer: NodeJS.Timeout
  readonly #watchers: FSWatcher[] = []

  constructor(
    private readonly directory: string,
    private readonly place: DaemonPlace,
    private readonly onGone: (why: string) => void,
  ) {
    this.#inode = inodeOf(directory)
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    for (const path of [directory, place.directory]) {
      try {
        const watcher = watch(path, { persistent: false }, (event) => {
          if (event === 'rename') this.#look()
        })
        this.#watchers.push(watcher.on('error', () => watcher.close()))
      } catch {
        // Looking now and then is enough.
      }
    }
  }

  #look(): void {
    if (inodeOf(this.directory) !== this.#inode) return this.#gone('its home is gone')
    const { pid } = thisProcess()
    if (readRecord(this.place)?.pid !== pid) this.#gone('its record was taken away')
  }

  #gone(why: string): void {
    this[Symbol.dispose]()
    this.onGone(why)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino
