import type { Home } from '../home/index.js'
import type { AgentRun, AgentRuns, AgentView } from '../lifecycle/index.js'
import type { Agent, AgentId } from '../model/index.js'

/** Every agent of the profile with how it runs and what it does, in memory: what the daemon decides and tells from. */
export class Roll {
  readonly #agents = new Map<string, Agent>()
  readonly #runs = new Map<string, AgentRun>()

  constructor(
    private readonly home: Pick<Home, 'roster'>,
    private readonly stored: AgentRuns,
  ) {}

  /** Reads everything again; which agents have changed since the last look. */
  async readAll(): Promise<AgentId[]> {
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

  has(id: string): boolean {
    return this.#agents.has(id)
  }

  runs(): AgentRun[] {
    return [...this.#runs.values()]
  }

  runOf(id: AgentId): AgentRun | undefined {
    return this.#runs.get(id)
  }

  views(): AgentView[] {
    return [...this.#runs.values()].flatMap((run) => {
      const agent = this.#agents.get(run.agent)
      return agent ? [viewOf(agent, run)] : []
    })
  }
}

function viewOf(agent: Agent, { status, run, binding, archived_at, snoozed_until }: AgentRun): AgentView {
  return {
    ...agent,
    ...status,
    ...(binding ? { session_id: binding.session } : {}),
    ...(run ? { tmux_session: run.tmux_session, pane: run.pane } : {}),
    ...(archived_at ? { archived_at } : {}),
    ...(snoozed_until ? { snoozed_until } : {}),
  }
}

const isSame = (a: AgentRun | undefined, b: AgentRun | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
