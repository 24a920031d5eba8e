import { type FSWatcher, statSync, watch } from 'node:fs'
import { thisProcess } from '../disk/index.js'
import type { DaemonPlace } from './place.js'
import { readRecord } from './record.js'

const LOOK_MS = 5_000

/**
 * Notices when the home is no longer there, or is another one: a daemon without its home would keep files open that nobody can see, and
 * make a half-empty home again with its first write. Of the daemon itself also when its record is gone or another's, for then nobody
 * would find it.
 */
export class HomeGuard implements Disposable {
  readonly #timer: NodeJS.Timeout
  readonly #watchers: FSWatcher[] = []

  constructor(
    private readonly home: HomeDirectory,
    private readonly onGone: (why: string) => void,
    private readonly daemon?: { place: DaemonPlace; onReplaced(why: string): void },
  ) {
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    for (const path of [home.path, ...(daemon ? [daemon.place.directory] : [])]) {
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
    const isHomeGone = !isThere(this.home)
    const isReplaced = this.daemon && readRecord(this.daemon.place)?.pid !== thisProcess().pid
    if (!isHomeGone && !isReplaced) return
    this[Symbol.dispose]()
    if (isHomeGone) this.onGone('its home is gone')
    else this.daemon?.onReplaced('its record was removed')
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
  }
}

/** A home by its place and by what was there: another one in the same place is not it. */
export interface HomeDirectory {
  readonly path: string
  readonly inode: number | undefined
}

export const homeDirectory = (path: string): HomeDirectory => ({ path, inode: inodeOf(path) })

export const isThere = ({ path, inode }: HomeDirectory): boolean => inodeOf(path) === inode

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino
