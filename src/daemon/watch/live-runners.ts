import { unwatchFile, watchFile } from 'node:fs'
import type { Home } from '../../home/index.js'
import type { ToolRunner } from '../../tools/index.js'

const LOOK_MS = 3_000

/** The tools as the config file describes them now: a daemon lives longer than its user's settings. */
export class LiveRunners implements Disposable {
  #all: readonly ToolRunner[]

  constructor(
    first: readonly ToolRunner[],
    home: Home,
    private readonly configFile: string,
    say: (line: string) => void,
  ) {
    this.#all = first
    watchFile(configFile, { interval: LOOK_MS, persistent: false }, () => {
      home.programs.runners().then(
        ({ all }) => {
          this.#all = all
        },
        (error: unknown) => say(`the tools stay unchanged: ${error instanceof Error ? error.message : String(error)}`),
      )
    })
  }

  get all(): readonly ToolRunner[] {
    return this.#all
  }

  [Symbol.dispose](): void {
    unwatchFile(this.configFile)
  }
}
