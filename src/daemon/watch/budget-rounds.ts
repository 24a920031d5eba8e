import { enforceBudgets, type Parts } from '../../lifecycle/index.js'
import type { EventHub } from '../http/event-hub.js'
import type { Notice } from '../notices/attention.js'
import { OneAtATime } from './one-at-a-time.js'

/** How often budgets are compared with the ledger, which another process fills. */
const ROUND_MS = 5_000

export interface BudgetRoundsOptions {
  readonly parts: Parts
  readonly hub: EventHub
  readonly watcher: { tell(notice: Notice): Promise<void> }
  readonly say: (line: string) => void
}

/** Compares what was spent with the budgets: now and then, and when an agent's status changes. Everything that it knows is on disk. */
export class BudgetRounds implements AsyncDisposable {
  readonly #rounds: OneAtATime
  readonly #watches: Disposable[]

  constructor(private readonly options: BudgetRoundsOptions) {
    const { hub, say } = options
    this.#rounds = new OneAtATime(
      () => this.round(),
      (error) => say(`budgets: ${error instanceof Error ? error.message : String(error)}`),
    )
    const timer = setInterval(() => this.#rounds.ask(), ROUND_MS)
    this.#watches = [
      { [Symbol.dispose]: () => clearInterval(timer) },
      hub.listen(({ event }) => event.type === 'agent_status' && this.#rounds.ask()),
    ]
  }

  async round(): Promise<void> {
    const { parts, watcher, say } = this.options
    for (const { kind, agent, line } of await enforceBudgets(parts, await parts.runs.all())) {
      say(`budget: ${agent} ${kind === 'warned' ? 'warned' : 'stopped'}: ${line}`)
      const title = kind === 'warned' ? `Budget of ${agent}` : `${agent} was stopped`
      await watcher.tell({ kind: 'budget', key: line, agent, since: '', title, body: line })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch[Symbol.dispose]()
    await this.#rounds.settled()
  }
}
