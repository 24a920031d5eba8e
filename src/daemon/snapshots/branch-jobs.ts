import type { Home } from '../../home/index.js'
import { commitTurns, pushTurns } from '../../lifecycle/index.js'
import type { AgentId, SessionId } from '../../model/index.js'

/** An agent whose branch may lack turns, or whose remote may lack the branch. */
export interface BranchJob {
  readonly branch: AgentId
  readonly session?: SessionId
}

/** What became of it. */
export interface BranchAnswer {
  readonly branch: AgentId
  /** When to push again. */
  readonly next_at?: string
  readonly problem?: string
}

/**
 * Commits turns on the branches of agents and pushes them, each agent's one after another. Captures do not wait for it, and commits do not wait for
 * a remote.
 */
export class BranchJobs {
  readonly #commits = new Map<AgentId, Promise<void>>()
  readonly #pushes = new Map<AgentId, Promise<void>>()

  constructor(
    private readonly openHome: () => Promise<Home>,
    private readonly now: () => number,
    private readonly answer: (answer: BranchAnswer) => void,
  ) {}

  get isIdle(): boolean {
    return this.#commits.size === 0 && this.#pushes.size === 0
  }

  ask({ branch: agent, session }: BranchJob): void {
    if (session === undefined) this.#push(agent)
    else this.#commit(agent, session)
  }

  #commit(agent: AgentId, session: SessionId): void {
    inTurn(this.#commits, agent, async () => {
      await this.#try(agent, async () => commitTurns(await this.openHome(), agent, session, this.now))
      this.#push(agent)
    })
  }

  #push(agent: AgentId): void {
    inTurn(this.#pushes, agent, () =>
      this.#try(agent, async () => {
        const next = await pushTurns(await this.openHome(), agent, this.now)
        this.answer({ branch: agent, ...(next === undefined ? {} : { next_at: next }) })
      }),
    )
  }

  async #try(agent: AgentId, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.answer({ branch: agent, problem: error instanceof Error ? error.message : String(error) })
    }
  }
}

function inTurn(chains: Map<AgentId, Promise<void>>, agent: AgentId, work: () => Promise<void>): void {
  const next = (chains.get(agent) ?? Promise.resolve()).then(work).finally(() => {
    if (chains.get(agent) === next) chains.delete(agent)
  })
  chains.set(agent, next)
}
