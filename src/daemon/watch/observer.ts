import { type Observed, observe, type Parts, takeIn } from '../../lifecycle/index.js'
import type { AgentId } from '../../model/index.js'

/** How the daemon observes agents: lifecycle observes, decides and stores; this only says when. */
export interface Observer {
  /** Takes the messages out of the spool and returns the agents they were about. During a flood, some may be left. */
  take(): Promise<readonly AgentId[]>
  isSpoolEmpty(): boolean
  /** Looks at these agents, or at all, and returns how each was seen. */
  look(only?: ReadonlySet<AgentId>): Promise<readonly Observed[]>
  /** Directories in which programs register what they do, a file per process. */
  readonly registries: readonly string[]
}

export function observerOf(parts: Parts): Observer {
  return {
    async take() {
      if (parts.spool.isEmpty()) return []
      const agents = await parts.home.roster.agents()
      const { agents: told } = await takeIn(parts, new Map(agents.map((agent) => [agent.id, agent])))
      return [...told]
    },
    isSpoolEmpty: () => parts.spool.isEmpty(),
    look: (only) => observe(parts, only),
    registries: [...new Set(parts.runners.flatMap((runner) => runner.registry?.directory(parts.environment) ?? []))],
  }
}
