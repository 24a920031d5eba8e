import type { Home } from '../../home/index.js'
import type { AgentRun, AgentRuns, Observed } from '../../lifecycle/index.js'
import type { Agent, AgentId, AgentStatus, Instant } from '../../model/index.js'

/** An agent with what it does, without what only faces show. */
export type SeenAgent = Agent & AgentStatus & { archived_at?: Instant }

/** Every agent of the profile with how it runs and what it does, in memory: what the daemon decides and tells from. */
export class AgentTable {
  readonly #agents = new Map<string, Agent>()
  readonly #runs = new Map<string, AgentRun>()
  #purge: string | undefined

  constructor(
    private readonly home: Pick<Home, 'roster' | 'privacy'>,
    private readonly stored: AgentRuns,
  ) {}

  /** A purge takes words out of what was read before, and tells nobody. */
  async forgetPurged(): Promise<void> {
    if (this.#purge !== this.home.privacy.lastPurge()) await this.readAll()
  }

  /** Reads everything again; which agents have changed since the last look. */
  async readAll(): Promise<AgentId[]> {
    this.#purge = this.home.privacy.lastPurge()
    const agents = await this.home.roster.agents()
    const runs = await this.stored.all()
    const before = new Map(this.#runs)
    this.#agents.clear()
    this.#runs.clear()
    for (const agent of agents) this.#agents.set(agent.id, agent)
    for (const run of runs) if (this.#agents.has(run.agent)) this.#runs.set(run.agent, run)
    const ids = new Set([...before.keys(), ...this.#runs.keys()] as AgentId[])
    return [...ids].filter((id) => !isSame(before.get(id), this.#runs.get(id)))
  }

  /** Reads one agent's file again; true when it says something new. */
  async readOne(id: AgentId): Promise<boolean> {
    const before = this.#runs.get(id)
    const now = this.#agents.has(id) ? await this.stored.read(id) : undefined
    if (isSame(before, now)) return false
    if (now) this.#runs.set(id, now)
    else this.#runs.delete(id)
    return true
  }

  runs(): AgentRun[] {
    return [...this.#runs.values()]
  }

  /** Those that were ever started, as far as deciding whom to tell what needs it. */
  seen(): SeenAgent[] {
    return [...this.#runs.values()].flatMap(({ agent: id, status, archived_at }) => {
      const agent = this.#agents.get(id)
      return agent ? [{ ...agent, ...status, ...(archived_at ? { archived_at } : {}) }] : []
    })
  }

  /** Everyone, as if just looked at: that is what the daemon does all the time. */
  observed(): Observed[] {
    return [...this.#agents.values()].map((agent) => ({
      agent,
      run: this.#runs.get(agent.id),
      verdict: undefined,
      seen: [],
    }))
  }
}

const isSame = (a: AgentRun | undefined, b: AgentRun | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
