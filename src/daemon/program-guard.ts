import { statSync } from 'node:fs'

const LOOK_MS = 5_000

/** Why a daemon ends whose program is another one by now. Whoever runs it starts the new one. */
export const REPLACED = 'its program was replaced'

/**
 * Notices when the daemon's program was replaced, by a new version or a build: what it has not loaded yet is gone then, and would be missing
 * in the middle of something. It counts once it is the same for two looks: before that, it is still being written.
 */
export class ProgramGuard implements Disposable {
  readonly #own: string | undefined
  #last: string | undefined
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly program: string,
    private readonly onReplaced: (why: string) => void,
  ) {
    this.#own = printOf(program)
    this.#last = this.#own
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  #look(): void {
    const now = printOf(this.program)
    const isSettled = now === this.#last
    this.#last = now
    if (now === undefined || now === this.#own || !isSettled) return
    this[Symbol.dispose]()
    this.onReplaced(REPLACED)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Something that was to be loaded is not there: the program was replaced, and its parts have other names now. */
export function isPartMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
}

/** Undefined while there is none. */
function printOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
