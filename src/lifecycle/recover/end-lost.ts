import type { Agent } from '../../model/index.js'
import type { LiveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { endRun, refuseLeft } from '../run/end-run.js'
import { observe } from '../status/observe.js'

const GRACE_MS = 2_000

/**
 * Ends what is left of a run that has lost its terminal, where nobody can reach it, and records its end. What has not ended
 * would write into the conversation that is resumed.
 */
export async function endLost(parts: Parts, agent: Agent, live: LiveRun): Promise<void> {
  refuseLeft(agent, await endRun(parts, agent, live, GRACE_MS))
  await observe(parts, new Set([agent.id]))
}
