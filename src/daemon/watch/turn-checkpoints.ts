import { type Parts, writeTurnCheckpoint } from '../../lifecycle/index.js'
import type { EventHub, Frame } from '../http/event-hub.js'
import { OneAtATime } from './one-at-a-time.js'

export interface TurnCheckpointsOptions {
  readonly parts: Parts
  readonly hub: EventHub
  readonly say: (line: string) => void
}

/** Saves where an agent is whenever a turn of it has ended, and before its program compacts its context: no hook waits for it. */
export class TurnCheckpoints implements AsyncDisposable {
  readonly #listening: Disposable
  readonly #due = new Set<string>()
  readonly #writing: OneAtATime

  constructor(private readonly options: TurnCheckpointsOptions) {
    const { hub, say } = options
    this.#writing = new OneAtATime(
      () => this.#write(),
      (error) => say(`a checkpoint: ${error instanceof Error ? error.message : String(error)}`),
    )
    this.#listening = hub.listen(({ event }) => {
      if (event.agent === undefined || !(isTurnEnd(event) || isCompaction(event))) return
      this.#due.add(event.agent)
      this.#writing.ask()
    })
  }

  async #write(): Promise<void> {
    const { parts } = this.options
    const due = new Set(this.#due)
    this.#due.clear()
    for (const agent of (await parts.home.roster.agents()).filter(({ address }) => due.has(address)))
      await writeTurnCheckpoint(parts, agent)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]()
    await this.#writing.settled()
  }
}

const isTurnEnd = ({ type, payload }: Frame['event']): boolean =>
  type === 'agent_status' &&
  (payload.previous === 'running' || payload.previous === 'waiting') &&
  (payload.status === 'idle' || payload.status === 'error' || payload.waiting_for === 'finished')

const isCompaction = ({ type, payload }: Frame['event']): boolean =>
  type === 'handoff' && payload.reason === 'compaction'
