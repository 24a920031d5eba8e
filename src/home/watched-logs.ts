import { watch as watchFiles } from 'node:fs'
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_TOOLS, type LogRef, type LogTool } from '../tools/index.js'

/** A burst of writes is one piece of news. */
const SETTLE_MS = 40

/** Tells which logs were written to, as it happens. */
export class WatchedLogs implements AsyncDisposable {
  /** By tool and place: two tools may be given the same directory. */
  readonly #roots = new Map<string, () => void>()
  readonly #changed = new Map<string, { tool: LogTool; root: string; path: string }>()
  #isOdd = false
  #isBlind = false
  #ring: () => void = () => {}

  constructor(
    /** What changes below this directory is our own doing: a home may lie where logs are looked for. */
    private readonly own: string,
  ) {}

  watch(logs: readonly LogRef[]): void {
    for (const { root, tool: name } of logs) {
      const tool = LOG_TOOLS.find((one) => one.name === name)
      const key = `${name}\0${root}`
      if (!tool || this.#roots.has(key)) continue
      try {
        const watcher = watchFiles(root, { recursive: true, persistent: false }, (_, file) =>
          this.#note(tool, root, file),
        )
        watcher.on('error', () => {
          watcher.close()
          this.#isBlind = true
        })
        this.#roots.set(key, () => watcher.close())
      } catch {
        this.#isBlind = true // no watches left on this machine
      }
    }
  }

  /** Some logs cannot be watched: whoever waits must look at them now and then. */
  get isBlind(): boolean {
    return this.#isBlind
  }

  /** The logs that changed within the time, none, or a hint that only a full look will tell. */
  async next(waitMs: number, signal: AbortSignal): Promise<LogRef[] | 'look again'> {
    if (this.#changed.size === 0 && !this.#isOdd) {
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve
      })
      const stop = new AbortController()
      const onAbort = (): void => stop.abort()
      signal.addEventListener('abort', onAbort)
      await Promise.race([rung, sleep(waitMs, undefined, { signal: stop.signal }).catch(() => {})])
      signal.removeEventListener('abort', onAbort)
      stop.abort()
      await sleep(this.#changed.size > 0 || this.#isOdd ? SETTLE_MS : 0)
    }
    if (this.#isOdd) {
      this.#isOdd = false
      this.#changed.clear()
      return 'look again'
    }
    const changed = [...this.#changed.values()]
    this.#changed.clear()
    return changed.flatMap(({ tool, root, path }) => {
      const log = tool.logAt(path)
      return log ? [{ ...log, root }] : []
    })
  }

  #note(tool: LogTool, root: string, file: string | null): void {
    const path = join(root, file ?? '')
    if (path.startsWith(this.own + sep)) return
    // A database changes in the files beside it, which name no session.
    const place = file?.replace(/-(wal|shm|journal)$/, '')
    if (place !== undefined && !tool.isLogAt(place, root)) return
    if (place !== file || place === undefined || place.endsWith('.db')) this.#isOdd = true
    else this.#changed.set(`${tool.name}\0${path}`, { tool, root, path })
    this.#ring()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#roots.values()) close()
    this.#roots.clear()
  }
}
