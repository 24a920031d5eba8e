import type { NewEvent } from '../../home/index.js'
import type { Agent } from '../../model/index.js'
import type { AgentRun, LiveRun } from '../agent-run.js'
import { hasStarted } from '../agent-run-recovery.js'
import type { Parts } from '../parts.js'
import { recordBeginning } from './recorded-session.js'

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

/**
 * Records a start whose process was killed behind its pane: the session, and that the run has begun. What a handoff has left is finished by
 * whoever finishes the handoff, which also links the two sessions.
 */
export async function recordAdopted(
  parts: Parts,
  agent: Agent,
  next: AgentRun & { run: LiveRun },
): Promise<Omit<NewEvent, 'agent'>[]> {
  if (next.handoff || (await hasStarted(parts.home, agent.id, next.run.id))) return []
  if (next.binding) await recordBeginning(parts, agent, next, next.binding.session)
  return startedEvents(agent, next)
}
