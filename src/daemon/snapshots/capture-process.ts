import type { Home } from '../../home/index.js'
import { captureEdge, type EdgeCapture } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import { type HomeDirectory, isThere } from '../home-guard.js'

/** What the daemon asks of the process that captures. */
export interface ToCapture {
  readonly id: number
  readonly edge: EdgeCapture
  readonly home: HomeDirectory
}

/** What that process answers with, once per request. */
export interface FromCapture {
  readonly id: number
  /** Why there is no snapshot. */
  readonly problem?: string
  /** Trying again would end the same way. */
  readonly isRefused?: boolean
}

/** Repositories that are captured at the same time: git reads the disk for each. */
const AT_ONCE = 2

/** Takes snapshots for the daemon: those of one directory after one another, others beside them. */
export class CaptureQueue {
  readonly #waiting: ToCapture[] = []
  readonly #busy = new Set<string>()
  #home: Promise<Home> | undefined

  constructor(
    private readonly openHome: () => Promise<Home>,
    private readonly answer: (answer: FromCapture) => void,
    private readonly abandon: () => void,
  ) {}

  get isIdle(): boolean {
    return this.#busy.size === 0
  }

  ask(request: ToCapture): void {
    this.#waiting.push(request)
    this.#next()
  }

  #next(): void {
    if (this.#busy.size >= AT_ONCE) return
    const at = this.#waiting.findIndex(({ edge }) => !this.#busy.has(edge.directory))
    const [request] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (!request) return
    const { directory } = request.edge
    this.#busy.add(directory)
    void this.#take(request).then((answer) => {
      this.#busy.delete(directory)
      this.answer(answer)
      this.#next()
    })
    this.#next()
  }

  async #take({ id, edge, home }: ToCapture): Promise<FromCapture> {
    if (!isThere(home)) this.abandon()
    try {
      this.#home ??= this.openHome()
      await captureEdge(await this.#home, edge)
      return { id }
    } catch (error) {
      const isRefused = error instanceof SkeinError && error.code === 'snapshot-refused'
      return { id, problem: error instanceof Error ? error.message : String(error), isRefused }
    }
  }
}
