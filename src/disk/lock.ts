import { chmodSync, existsSync, statSync } from 'node:fs'
import { SkeinError } from '../model/index.js'
import { refuseForeign } from './plain-file.js'
import { type Database, openDatabase, SQLITE, sqliteCode } from './sqlite.js'

// Not `node:timers/promises`: loading it costs every command 3 ms, and few ever wait.
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * A lock file with three levels, held by the operating system, so it ends with its process, also by kill -9:
 *
 * - **shared**: "I use the files". Many at once.
 * - **writer**: "I append". One at a time, beside any number of shared holders.
 * - **exclusive**: "I replace files that others may have open". Alone.
 *
 * It is an SQLite database nobody ever writes to: its rollback-mode locks are exactly these three, and Node has no flock.
 * Never open the file in any other way: closing any descriptor on it would drop the process's locks.
 */
export class FileLock implements Disposable {
  #writer: Database | undefined
  #shared: Database | undefined
  #holder: Promise<void> = Promise.resolve()

  constructor(
    readonly path: string,
    private readonly options: { readOnly: boolean } = { readOnly: false },
  ) {}

  /** Held until `releaseShared` or dispose. Waits while somebody is replacing files. */
  async holdShared(waitMs: number): Promise<void> {
    if (this.#shared || (this.options.readOnly && !existsSync(this.path))) return
    const database = this.#open()
    try {
      await this.#until(() => attemptShared(database), waitMs)
    } catch (error) {
      database.close()
      throw this.#explained(error)
    }
    this.#shared = database
  }

  releaseShared(): void {
    this.#shared?.close()
    this.#shared = undefined
  }

  /** Is the only writer until the result is disposed: for work that has to wait for something else, such as a program that starts. */
  async hold(waitMs: number): Promise<Disposable> {
    const database = this.#open()
    try {
      await this.#until(() => attempt(() => database.exec('begin immediate')), waitMs)
    } catch (error) {
      database.close()
      throw this.#explained(error)
    }
    return { [Symbol.dispose]: () => database.close() }
  }

  /**
   * Runs `body` as the only writer. `body` is synchronous: nothing else of this process can come between.
   * Waiting is a short sleep and another try: SQLite's own wait backs off to 100 ms and starves under load.
   */
  async asWriter<T>(body: () => T, waitMs: number): Promise<T> {
    return this.#holding('begin immediate', body, waitMs)
  }

  /** Runs `body` while nobody else, in any process, holds any level. Release your own shared hold first. */
  async asOnlyUser<T>(body: () => T, waitMs: number): Promise<T> {
    return this.#holding('begin exclusive', body, waitMs)
  }

  async #holding<T>(begin: string, body: () => T, waitMs: number): Promise<T> {
    const before = this.#holder
    let isDone = (): void => {}
    this.#holder = new Promise((resolve) => {
      isDone = resolve
    })
    try {
      await before // one connection can hold it once: callers of the same process take turns
      return await this.#hold(begin, body, waitMs)
    } finally {
      isDone()
    }
  }

  async #hold<T>(begin: string, body: () => T, waitMs: number): Promise<T> {
    this.#writer ??= this.#open()
    const writer = this.#writer
    try {
      await this.#until(() => attempt(() => writer.exec(begin)), waitMs)
    } catch (error) {
      throw this.#explained(error)
    }
    try {
      return body()
    } finally {
      writer.exec('rollback') // a commit would touch the file, and fail beside shared holders
    }
  }

  async #until(done: () => boolean, waitMs: number): Promise<void> {
    const deadline = performance.now() + waitMs
    while (!done()) {
      if (performance.now() > deadline) throw this.#busy(waitMs)
      await sleep(1 + Math.random() * 4)
    }
  }

  #open(): Database {
    let database: Database | undefined
    refuseForeign(this.path, { mayLink: false })
    try {
      database = openDatabase(this.path, { readOnly: this.options.readOnly })
      // An empty file would be written to by the first `begin immediate`: give it its one page now.
      if (!this.options.readOnly && statSync(this.path).size === 0) {
        // Without waiting for the disk: after a power cut an empty file is given its page again.
        database.exec(
          'pragma busy_timeout = 10000; pragma synchronous = off; create table if not exists nothing_is_stored_here (n)',
        )
        chmodSync(this.path, 0o600)
      }
      database.exec('pragma busy_timeout = 0')
      return database
    } catch (error) {
      database?.close()
      throw this.#explained(error)
    }
  }

  #busy(waitMs: number): SkeinError {
    return new SkeinError(
      'home-busy',
      `Another Skein process has held ${this.path} for ${Math.round(waitMs / 1000)} s`,
      'Wait for it to end (a rebuild can take a while), then try again',
    )
  }

  #explained(error: unknown): unknown {
    const code = sqliteCode(error)
    if (code === SQLITE.corrupt || code === SQLITE.notADatabase) {
      const next = 'It holds no data: stop every Skein process that uses this home, then delete the file'
      return new SkeinError('home-unreadable', `The lock file ${this.path} is damaged`, next, { cause: error })
    }
    return error
  }

  [Symbol.dispose](): void {
    this.releaseShared()
    this.#writer?.close()
    this.#writer = undefined
  }
}

function attemptShared(database: Database): boolean {
  database.exec('begin')
  const held = attempt(() => database.exec('select count(*) from sqlite_master'))
  if (!held) database.exec('rollback')
  return held
}

/** Whether it could be done now; false when another process is in the way. */
function attempt(step: () => void): boolean {
  try {
    step()
    return true
  } catch (error) {
    if (sqliteCode(error) === SQLITE.busy) return false
    throw error
  }
}
