import { close } from 'node:fs'
import { openGuarded, readOpen } from '../disk/index.js'

const MOST_BYTES = 64 * 1024 * 1024

/**
 * Files that were read and stay open until they have lost their name. The last name of a file that was just written goes only when the disk has
 * taken its bytes, unless somebody has it open: then the system frees it when it is closed, and nobody has to wait for that.
 */
export class HeldFiles implements Disposable {
  readonly #open = new Map<string, number>()

  /** All of a file. A link or anything else in its place is refused. */
  read(path: string): Buffer {
    const file = openGuarded(path, { noFollow: true })
    this.#open.set(path, file)
    return readOpen(file, path, MOST_BYTES)
  }

  /** Closes it beside everything else. */
  letGo(path: string): void {
    const file = this.#open.get(path)
    if (file === undefined) return
    this.#open.delete(path)
    // It was only read: there is nothing that closing could fail to write.
    close(file, () => {})
  }

  [Symbol.dispose](): void {
    for (const path of [...this.#open.keys()]) this.letGo(path)
  }
}
