import type { Agent } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { unfinished } from './marker.js'

export const hasUnfinishedHandoff = (run: AgentRun): boolean => unfinished(run) !== undefined

/** Finishes a handoff whose process was killed; does nothing while that process lives. Loaded when there is one. */
export async function finishCutHandoff(parts: Parts, agent: Agent): Promise<void> {
  const { finishAndPrompt } = await import('./perform-handoff.js')
  await finishAndPrompt(parts, agent)
}
