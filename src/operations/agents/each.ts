import { SkeinError } from '../../model/index.js'
import { type ErrorFacts, errorFacts } from '../error-facts.js'

/** What could not be done for one of several agents. */
export interface Failure {
  agent: string
  error: ErrorFacts
}

/** Something to do for one agent. */
export interface Job<Done> {
  readonly agent: string
  run(): Promise<Done>
}

export interface Outcome<Done> {
  done: Done[]
  failures?: Failure[]
}

/** What is reported about each job while others are still running. */
export interface Listener<Done> {
  done(one: Done): void
  failed(error: SkeinError): void
}

/** More at a time would make each of them slower: programs start, end and draw their screens. */
const AT_ONCE = 8

/** Does all jobs, some at a time. What fails for one agent is listed; the others go on. */
export async function doEach<Done>(
  jobs: readonly Job<Done>[],
  { atOnce = AT_ONCE, listener }: { atOnce?: number; listener?: Listener<Done> } = {},
): Promise<Outcome<Done>> {
  const done: (Done | undefined)[] = []
  const failures: Failure[] = []
  await inParallel(jobs, atOnce, async ({ agent, run }, at) => {
    try {
      const one = await run()
      done[at] = one
      listener?.done(one)
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      failures.push({ agent, error: errorFacts(error) })
      listener?.failed(error)
    }
  })
  return { done: done.filter((one) => one !== undefined), ...(failures.length > 0 ? { failures } : {}) }
}

/** Runs `act` for every item, at most `limit` at a time. A bug in one is thrown when those under way have ended. */
async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  act: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      await act(items[at] as Item, at)
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker))
  const failed = workers.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}
