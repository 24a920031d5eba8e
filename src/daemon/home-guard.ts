import { type FSWatcher, statSync, watch } from 'node:fs'
import { thisProcess } from '../disk/index.js'
import type { DaemonPlace } from './place.js'
import { readRecord } from './record.js'

const LOOK_MS = 5_000

/**
 * Notices when the home is no longer there, or is another one: a daemon without its home would keep files open that nobody can see, and
 * make a half-empty home again with its first write. And when its record is gone or another's, for then nobody would find it.
 */
export class HomeGuard implements Disposable {
  readonly #inode: number | undefined
  readonly #timer: NodeJS.Timeout
  readonly #watchers: FSWatcher[] = []

  constructor(
    private readonly directory: string,
    private readonly place: DaemonPlace,
    private readonly on: { onGone(why: string): void; onReplaced(why: string): void },
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
    const isHomeGone = inodeOf(this.directory) !== this.#inode
    if (!isHomeGone && readRecord(this.place)?.pid === thisProcess().pid) return
    this[Symbol.dispose]()
    if (isHomeGone) this.on.onGone('its home is gone')
    else this.on.onReplaced('its record was taken away')
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino
