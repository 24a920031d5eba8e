import type { Home } from '../../home/index.js'
import { captureEdge, type EdgeCapture } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import { type HomeDirectory, isThere } from '../home-guard.js'
import { type BranchAnswer, type BranchJob, BranchJobs } from './branch-jobs.js'

/** What the daemon asks of the process that captures. */
export type ToCapture = CaptureRequest | (BranchJob & { readonly home: HomeDirectory })

export interface CaptureRequest {
  readonly id: number
  readonly edge: EdgeCapture
  readonly home: HomeDirectory
}

/** What that process answers with: captures once per request. */
export type FromCapture = CaptureAnswer | BranchAnswer

export interface CaptureAnswer {
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
  readonly #waiting: CaptureRequest[] = []
  readonly #busy = new Set<string>()
  readonly #branches: BranchJobs
  #home: Promise<Home> | undefined

  constructor(
    private readonly openHome: () => Promise<Home>,
    private readonly answer: (answer: FromCapture) => void,
    private readonly abandon: () => void,
    now: () => number,
  ) {
    this.#branches = new BranchJobs(() => this.#opened(), now, answer)
  }

  get isIdle(): boolean {
    return this.#busy.size === 0 && this.#branches.isIdle
  }

  ask(request: ToCapture): void {
    if ('branch' in request) this.#branches.ask(request)
    else {
      this.#waiting.push(request)
      this.#next()
    }
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
      const { agent, session, moment } = request.edge
      if (moment === 'stop' && answer.problem === undefined) this.#branches.ask({ branch: agent, session })
      this.answer(answer)
      this.#next()
    })
    this.#next()
  }

  #opened(): Promise<Home> {
    this.#home ??= this.openHome()
    return this.#home
  }

  async #take({ id, edge, home }: CaptureRequest): Promise<CaptureAnswer> {
    if (!isThere(home)) this.abandon()
    try {
      await captureEdge(await this.#opened(), edge)
      return { id }
    } catch (error) {
      const isRefused = error instanceof SkeinError && error.code === 'snapshot-refused'
      return { id, problem: error instanceof Error ? error.message : String(error), isRefused }
    }
  }
}
