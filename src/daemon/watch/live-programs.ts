import { statSync, unwatchFile, watchFile } from 'node:fs'
import type { Home } from '../../home/index.js'
import type { Parts } from '../../lifecycle/index.js'

const LOOK_MS = 3_000

type Programs = Pick<Parts, 'runners' | 'environment'>

/** The tools and accounts as the config file describes them now: a daemon lives longer than its user's settings. */
export class LivePrograms implements Programs, Disposable {
  #now: Programs
  #read: string
  #reading: Promise<void> | undefined

  constructor(
    first: Programs,
    private readonly home: Home,
    private readonly configFile: string,
    private readonly say: (line: string) => void,
  ) {
    this.#now = first
    this.#read = signatureOf(configFile)
    watchFile(configFile, { interval: LOOK_MS, persistent: false }, () => void this.refresh())
  }

  get runners(): Programs['runners'] {
    return this.#now.runners
  }

  get environment(): Programs['environment'] {
    return this.#now.environment
  }

  /** For whoever asks right after an edit: what was just described can be used at once. */
  async refresh(): Promise<void> {
    const signature = signatureOf(this.configFile)
    if (signature === this.#read) return this.#reading
    this.#read = signature
    this.#reading = this.#described().then(
      (described) => {
        this.#now = described
      },
      (error: unknown) =>
        this.say(`tools and accounts stay unchanged: ${error instanceof Error ? error.message : String(error)}`),
    )
    return this.#reading
  }

  async #described(): Promise<Programs> {
    const { programs } = this.home
    const [{ all: runners }, environment] = await Promise.all([programs.runners(), programs.environment()])
    return { runners, environment }
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
