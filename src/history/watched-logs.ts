import { type Dirent, type FSWatcher, readdirSync, watch as watchFiles } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseStamp, refuseDead, statOf } from '../disk/index.js'
import { LOG_TOOLS, type LogRef, type LogTool } from '../tools/index.js'

/** A burst of writes is one piece of news. */
const SETTLE_MS = 40

/** A database is written to with every word of a reply, and tells what is new less cheaply than a file. */
const DATABASE_PACE_MS = 1_000

/** Deeper than this below a new directory no tool keeps logs: a link that points up must not loop. */
const DEPTH = 5

/** Whose logs lie below a directory. */
interface Source {
  tool: LogTool
  /** As the tool gives it: the names of logs begin with it. */
  root: string
}

/** A log that was written to. */
interface Changed extends Source {
  path: string
  /** Not to be looked at before. */
  dueAt: number
}

interface Watched {
  watcher: FSWatcher
  /** Tells the directory from one that was made in its place. */
  identity: string
}

/**
 * Tells which logs were written to, as it happens. Directories are watched, not files, and only those that hold logs: Node's own
 * recursive watch takes one watch per file of all that a tool keeps, and loses a file that is replaced by another.
 */
export class WatchedLogs implements AsyncDisposable {
  /** By tool, root and place: two tools may be given the same directory. */
  readonly #directories = new Map<string, Watched>()
  /** By tool and root: the folders in it that logs were found in. New directories are of interest there alone. */
  readonly #folders = new Map<string, Set<string>>()
  readonly #changed = new Map<string, Changed>()
  /** How databases were when they were looked at last. */
  readonly #databases = new Map<string, { stamp: string; lookedAt: number }>()
  #isOdd = false
  #isBlind = false
  #ring: () => void = () => {}

  constructor(
    /** Changes below this directory are our own: a home may be in a directory that is searched for logs. */
    private readonly own: string,
  ) {}

  watch(logs: readonly LogRef[]): void {
    const seen = new Set<string>()
    for (const { root, tool: name, path } of logs) {
      const tool = LOG_TOOLS.find((one) => one.name === name)
      if (!tool) continue
      const source = { tool, root }
      if (tool.logsIn && !this.#databases.has(path))
        this.#databases.set(path, { stamp: databaseStamp(path), lookedAt: Number.NEGATIVE_INFINITY })
      const [folder = ''] = placeIn(root, dirname(path)).split(sep)
      this.#foldersOf(source).add(folder)
      // The log's own directory and those above it, down from the folder of the root that it is in.
      for (let place = placeIn(root, dirname(path)); ; place = dirname(place)) {
        const key = keyOf(source, place)
        if (seen.has(key)) break
        seen.add(key)
        this.#watchDirectory(source, place)
        if (place === folder) break
      }
    }
  }

  /** Some logs cannot be watched: whoever waits must look at them now and then. */
  get isBlind(): boolean {
    return this.#isBlind
  }

  /** The logs that changed within the time, none, or a hint that only a full look will tell. */
  async next(waitMs: number, signal: AbortSignal): Promise<LogRef[] | 'look again'> {
    const until = performance.now() + waitMs
    for (;;) {
      if (this.#isOdd) {
        this.#isOdd = false
        this.#changed.clear()
        return 'look again'
      }
      const due = this.#due()
      const now = performance.now()
      if (due.length > 0 || now >= until || signal.aborted) return due.flatMap((one) => this.#logsOf(one))
      await this.#rung(Math.min(until, ...[...this.#changed.values()].map(({ dueAt }) => dueAt)) - now, signal)
    }
  }

  /** Until something rings, or the time is over. */
  async #rung(waitMs: number, signal: AbortSignal): Promise<void> {
    const rung = new Promise<boolean>((resolve) => {
      this.#ring = () => resolve(true)
    })
    const stop = new AbortController()
    const onAbort = (): void => stop.abort()
    signal.addEventListener('abort', onAbort)
    const over = sleep(Math.max(0, waitMs), false, { signal: stop.signal }).catch(() => false)
    const isRung = await Promise.race([rung, over])
    signal.removeEventListener('abort', onAbort)
    stop.abort()
    if (isRung) await sleep(SETTLE_MS)
  }

  #due(): Changed[] {
    const due = [...this.#changed].filter(([, { dueAt }]) => dueAt <= performance.now())
    for (const [key] of due) this.#changed.delete(key)
    return due.map(([, changed]) => changed)
  }

  #logsOf({ tool, root, path }: Changed): LogRef[] {
    if (!tool.logsIn) {
      const log = tool.logAt(path)
      return log ? [{ ...log, root }] : []
    }
    const stamp = databaseStamp(path)
    const known = this.#databases.get(path)
    this.#databases.set(path, { stamp, lookedAt: performance.now() })
    return known?.stamp === stamp ? [] : tool.logsIn(path).map((log) => ({ ...log, root }))
  }

  #watchDirectory(source: Source, place: string): void {
    const directory = join(source.root, place)
    const key = keyOf(source, place)
    const stat = statOf(directory)
    const identity = `${stat?.ino}:${stat?.birthtimeMs}`
    const known = this.#directories.get(key)
    if (!stat || known?.identity === identity) return
    known?.watcher.close()
    this.#directories.delete(key)
    try {
      const watcher = watchFiles(directory, { persistent: false }, (event, file) => {
        if (file !== null) return this.#note(source, join(place, file), event === 'rename')
        this.#isOdd = true
        this.#ring()
      })
      watcher.on('error', () => {
        watcher.close()
        this.#directories.delete(key)
        this.#isBlind = true
      })
      this.#directories.set(key, { watcher, identity })
    } catch {
      this.#isBlind = true // no watches left on this machine
    }
  }

  /** `cameOrWent`: it was made, moved or removed, and may be a directory. */
  #note(source: Source, changed: string, cameOrWent: boolean): void {
    const { tool, root } = source
    const path = join(root, changed)
    if (path === this.own || path.startsWith(this.own + sep)) return
    // A database changes in the files beside it. Its shared memory says only who reads it, and readers must wake nobody.
    if (tool.logsIn && changed.endsWith('-shm')) return
    const place = tool.logsIn ? changed.replace(/-(wal|journal)$/, '') : changed
    if (!tool.isLogAt(place, root)) {
      if (cameOrWent && this.#foldersOf(source).has(changed.split(sep)[0] ?? '')) this.#enter(source, changed)
      return
    }
    const log = join(root, place)
    const dueAt = tool.logsIn ? (this.#databases.get(log)?.lookedAt ?? Number.NEGATIVE_INFINITY) + DATABASE_PACE_MS : 0
    this.#changed.set(keyOf(source, place), { ...source, path: log, dueAt })
    this.#ring()
  }

  /** A new directory: what was put into it before it was watched, nobody tells. */
  #enter(source: Source, place: string, depth = DEPTH): void {
    let entries: Dirent[]
    try {
      refuseDead(join(source.root, place))
      entries = readdirSync(join(source.root, place), { withFileTypes: true })
    } catch {
      return // a file, or gone again
    }
    this.#watchDirectory(source, place)
    for (const entry of entries) {
      if (!entry.isDirectory()) this.#note(source, join(place, entry.name), false)
      else if (depth > 0) this.#enter(source, join(place, entry.name), depth - 1)
    }
  }

  #foldersOf({ tool, root }: Source): Set<string> {
    const key = `${tool.name}\0${root}`
    const folders = this.#folders.get(key) ?? new Set()
    this.#folders.set(key, folders)
    return folders
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { watcher } of this.#directories.values()) watcher.close()
    this.#directories.clear()
  }
}

/** Empty for the root itself. Roots come as users write them: with a slash at their end, or relative. */
const placeIn = (root: string, directory: string): string => relative(resolve(root), resolve(directory))
const keyOf = ({ tool, root }: Source, place: string): string => `${tool.name}\0${root}\0${place}`
