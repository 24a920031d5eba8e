import { watch as watchFiles } from 'node:fs'
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_TOOLS, type LogRef, type LogTool } from '../tools/index.js'

/** A burst of writes is one piece of news. */
const SETTLE_MS = 40

/** Tells which logs were written to, as it happens. */
export class WatchedLogs implements AsyncDisposable {
  readonly #roots = new Map<string, { tool: LogTool; close: () => void }>()
  readonly #changed = new Map<string, LogTool>()
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
      if (!tool || this.#roots.has(root)) continue
      try {
        const watcher = watchFiles(root, { recursive: true, persistent: false }, (_, file) =>
          this.#note(tool, root, file),
        )
        watcher.on('error', () => {
          watcher.close()
          this.#isBlind = true
        })
        this.#roots.set(root, { tool, close: () => watcher.close() })
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
      await sleep(this.#changed.size > 0 ? SETTLE_MS : 0)
    }
    if (this.#isOdd) {
      this.#isOdd = false
      this.#changed.clear()
      return 'look again'
    }
    const paths = [...this.#changed]
    this.#changed.clear()
    return paths.flatMap(([path, tool]) => tool.logAt(path) ?? [])
  }

  #note(tool: LogTool, root: string, file: string | null): void {
    const path = file === null ? undefined : join(root, file)
    if (path?.startsWith(this.own + sep)) return
    // A database changes in the files beside it, which name no session.
    if (path === undefined || /-(wal|shm|journal)$/.test(path) || path.endsWith('.db')) this.#isOdd = true
    else this.#changed.set(path, tool)
    this.#ring()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { close } of this.#roots.values()) close()
    this.#roots.clear()
  }
}
