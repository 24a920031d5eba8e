import type { NewEvent } from '../../home/index.js'
import type { Agent } from '../../model/index.js'
import type { AgentRun, LiveRun } from '../agent-run.js'

/** What the journal is told of a run that has begun. */
export function startedEvents(
  agent: Agent,
  { recipe, run, binding, respawn }: AgentRun & { run: LiveRun },
): Omit<NewEvent, 'agent'>[] {
  const { how } = run
  const about = binding ? { session: binding.session } : {}
  const payload = { agent_id: agent.id, recipe, run, ...(binding ? { binding } : {}), how }
  const count = respawn ? { respawn: respawn.count } : {}
  const spawned = { agent_id: agent.id, target: agent.address, tool: recipe.tool, how, ...count }
  return [
    { type: 'agent_started', ...about, payload },
    { type: 'spawn', ...about, payload: spawned, visibility: 'audit' as const },
  ]
}
