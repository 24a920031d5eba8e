import type { Home } from '../../home/index.js'
import {
  type AgentRun,
  type AgentRuns,
  type Found,
  type Observed,
  unknownBy,
  type Verdict,
} from '../../lifecycle/index.js'
import type { Agent, AgentId, AgentStatus, Instant } from '../../model/index.js'

/** An agent with what it does, without what only faces show. */
export type SeenAgent = Agent & AgentStatus & { archived_at?: Instant }

/** Every agent of the profile with how it runs and what it does, in memory: what the daemon decides and tells from. */
export class AgentTable {
  readonly #agents = new Map<string, Agent>()
  readonly #runs = new Map<string, AgentRun>()
  /** What was seen of agents that could not be reached at the last look, with the file that was read then. */
  readonly #passing = new Map<string, Verdict>()
  /** Why the files of some agents cannot be read. */
  readonly #problems = new Map<string, string>()
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
    const found = await Promise.all(agents.map(async ({ id }) => ({ id, ...(await this.stored.found(id)) })))
    const gone = [...this.#agents.keys()].filter((id) => !agents.some((agent) => agent.id === id)) as AgentId[]
    this.#agents.clear()
    for (const agent of agents) this.#agents.set(agent.id, agent)
    const changed = found.filter(({ id, ...one }) => this.#set(id, one)).map(({ id }) => id)
    return [...changed, ...gone.filter((id) => this.#set(id, { run: undefined }))]
  }

  /** Reads one agent's file again; true when it says something new. */
  async readOne(id: AgentId): Promise<boolean> {
    return this.#set(id, this.#agents.has(id) ? await this.stored.found(id) : { run: undefined })
  }

  /** Keeps what could not be seen at this look, which is not stored; true when that is news. */
  saw(observed: readonly Observed[]): boolean {
    return observed.map(({ agent, verdict }) => this.#pass(agent.id, verdict)).includes(true)
  }

  #pass(id: AgentId, verdict: Verdict | undefined): boolean {
    const before = this.#passing.get(id)
    const isUnknown = verdict?.isPassing === true && verdict.status.status === 'unknown'
    if (isUnknown) this.#passing.set(id, verdict)
    else this.#passing.delete(id)
    return before?.status.reason !== this.#passing.get(id)?.status.reason
  }

  #set(id: AgentId, { run, problem }: Found): boolean {
    const before = this.#runs.get(id)
    const isOther = !isSame(before, run) || this.#problems.get(id) !== problem
    if (!isOther) return false
    if (run) this.#runs.set(id, run)
    else this.#runs.delete(id)
    if (problem === undefined) this.#problems.delete(id)
    else this.#problems.set(id, problem)
    // Somebody has seen more since. A command that was refused has only marked what it wanted.
    if (!isSame(seenIn(before), seenIn(run))) this.#passing.delete(id)
    return true
  }

  /** These agents, with how they run. */
  of(ids: Iterable<AgentId>): { agent: Agent; run: AgentRun }[] {
    return [...ids].flatMap((id) => {
      const [agent, run] = [this.#agents.get(id), this.#runs.get(id)]
      return agent && run ? [{ agent, run }] : []
    })
  }

  ids(): Set<AgentId> {
    return new Set([...this.#agents.values()].map(({ id }) => id))
  }

  runs(): AgentRun[] {
    return [...this.#runs.values()]
  }

  /** Those that were ever started, as far as deciding whom to tell what needs it. */
  seen(): SeenAgent[] {
    return [...this.#runs.values()].flatMap(({ agent: id, status, archived_at }) => {
      const agent = this.#agents.get(id)
      const now = this.#passing.get(id)?.status ?? status
      return agent ? [{ ...agent, ...now, ...(archived_at ? { archived_at } : {}) }] : []
    })
  }

  /** Everyone, as if just looked at: that is what the daemon does all the time. */
  observed(): Observed[] {
    return [...this.#agents.values()].map((agent) => ({
      agent,
      run: this.#runs.get(agent.id),
      verdict: this.#verdictOf(agent),
      seen: [],
    }))
  }

  #verdictOf({ id, updated_at }: Agent): Verdict | undefined {
    const problem = this.#problems.get(id)
    if (problem === undefined) return this.#passing.get(id)
    return unknownBy({ source: 'process', at: updated_at, status: 'unknown', reason: problem })
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** What an agent's file says of the process that it has, as far as looking at it tells. */
const seenIn = (run: AgentRun | undefined) => run && [run.status, run.run?.id, run.run?.ended_at]
