import { closeSync, fstatSync, openSync, readFileSync, renameSync } from 'node:fs'
import { writeFully } from '../disk/index.js'
import { type Context, instantOf } from '../model/index.js'

/** Two files of this size at most: a week of a busy daemon, and no disk is ever filled by it. */
const ROTATE_AT_BYTES = 512 * 1024
/** One line is news, not a dump. */
const MAX_LINE = 2_000

/** The daemon's own log: one line per piece of news, readable by its user alone, bounded. */
export class LogFile implements Disposable {
  #file: number
  #bytes: number

  constructor(
    readonly path: string,
    private readonly clock: Context['clock'],
  ) {
    this.#file = openSync(path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }

  write(line: string): void {
    const text = line.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').slice(0, MAX_LINE)
    const bytes = Buffer.from(`${instantOf(this.clock.now())} ${text}\n`)
    try {
      if (fstatSync(this.#file).nlink === 0) this.#reopen() // a purge has replaced it
      if (this.#bytes + bytes.length > ROTATE_AT_BYTES) this.#rotate()
      writeFully(this.#file, bytes)
      this.#bytes += bytes.length
    } catch {
      // A full disk must not end the daemon; what it has to say is the least of it.
    }
  }

  #rotate(): void {
    renameSync(this.path, previous(this.path))
    this.#reopen()
  }

  #reopen(): void {
    closeSync(this.#file)
    this.#file = openSync(this.path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** The newest lines, oldest first. */
export function newestLines(path: string, count: number): string[] {
  const lines: string[] = []
  for (const file of [path, previous(path)]) {
    if (lines.length < count) lines.unshift(...linesOf(file))
  }
  return lines.slice(-count)
}

const previous = (path: string): string => `${path}.1`

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').filter(Boolean)
  } catch {
    return []
  }
}
