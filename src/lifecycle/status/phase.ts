import type { AgentStatus } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { unfinished } from '../handoff/marker.js'

/** Where an agent is in its life: it begins, waits for work, works on what is on its hook, or hands off. */
export type Phase = 'priming' | 'ready' | 'autonomous' | 'handoff'

/** Undefined for an agent that does not run, and where it is not known whether work or mail is on its hook. */
export function phaseOf(
  run: AgentRun | undefined,
  { status }: AgentStatus,
  hasWork: boolean | undefined,
): Phase | undefined {
  if (unfinished(run)) return 'handoff'
  if (!run || !liveRun(run)) return undefined
  // Its successor runs and has not read what was handed to it.
  if (status === 'starting' || (run.handoff !== undefined && run.handoff.kind === 'fresh')) return 'priming'
  if (hasWork ?? run.recipe.work !== undefined) return 'autonomous'
  return hasWork === undefined ? undefined : 'ready'
}
