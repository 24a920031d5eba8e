import { statSync, unwatchFile, watchFile } from 'node:fs'
import type { Home } from '../../home/index.js'
import type { ToolRunner } from '../../tools/index.js'

const LOOK_MS = 3_000

/** The tools as the config file describes them now: a daemon lives longer than its user's settings. */
export class LiveRunners implements Disposable {
  #all: readonly ToolRunner[]
  #read: string
  #reading: Promise<void> | undefined

  constructor(
    first: readonly ToolRunner[],
    private readonly home: Home,
    private readonly configFile: string,
    private readonly say: (line: string) => void,
  ) {
    this.#all = first
    this.#read = signatureOf(configFile)
    watchFile(configFile, { interval: LOOK_MS, persistent: false }, () => void this.refresh())
  }

  get all(): readonly ToolRunner[] {
    return this.#all
  }

  /** For whoever asks right after an edit: a tool that was just described can be used at once. */
  async refresh(): Promise<void> {
    const signature = signatureOf(this.configFile)
    if (signature === this.#read) return this.#reading
    this.#read = signature
    this.#reading = this.home.programs.runners().then(
      ({ all }) => {
        this.#all = all
      },
      (error: unknown) =>
        this.say(`the tools stay unchanged: ${error instanceof Error ? error.message : String(error)}`),
    )
    return this.#reading
  }

  [Symbol.dispose](): void {
    unwatchFile(this.configFile)
  }
}

function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return '' // missing or unreadable: the reader says so
  }
}
