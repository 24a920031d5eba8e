import { type Agent, SkeinError } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { unfinished } from './marker.js'

export const hasUnfinishedHandoff = (run: AgentRun): boolean => unfinished(run) !== undefined

/**
 * Finishes a handoff whose process was killed; does nothing while that process lives, or while the group is parked: it is tried again at
 * the next look. Loaded when there is one.
 */
export async function finishCutHandoff(parts: Parts, agent: Agent): Promise<void> {
  const { finishAndPrompt } = await import('./perform-handoff.js')
  await finishAndPrompt(parts, agent).catch((error: unknown) => {
    if (!(error instanceof SkeinError && error.code === 'group-parked')) throw error
  })
}
