import type { AgentRun } from '../../lifecycle/index.js'
import type { AgentId, AgentStatus } from '../../model/index.js'

const OFTEN_MS = 1_000
const NOW_AND_THEN_MS = 3_000
const SELDOM_MS = 30_000

/**
 * How often an agent is looked at when nothing calls for it. Programs that tell by themselves are looked at to mend what they
 * failed to tell; the others have to be looked at to know anything. Undefined for an agent that does not run: nothing about it changes.
 */
export function lookEveryMs({
  run,
  status,
  quiet_at,
}: Pick<AgentRun, 'run' | 'status' | 'quiet_at'>): number | undefined {
  if (!run || run.ended_at !== undefined) return undefined
  if (quiet_at !== undefined) return OFTEN_MS // looks ended, and its program has not said how
  if (status.source === 'registry') return SELDOM_MS // exact, and its file is watched
  if (isReported(status)) return isQuiet(status) ? SELDOM_MS : NOW_AND_THEN_MS
  // A screen that no rule knows does not become known by looking more often.
  return isQuiet(status) || status.status === 'unknown' ? NOW_AND_THEN_MS : OFTEN_MS
}

/**
 * Whether an agent, polled rarely, is to be looked at when its screen changes. Programs report turns and permissions, and not
 * the dialogs that their user opens between two turns.
 */
export const isLookedAtWhenMoved = (run: Pick<AgentRun, 'run' | 'status' | 'quiet_at'>): boolean =>
  lookEveryMs(run) === SELDOM_MS

const isReported = ({ source }: AgentStatus): boolean =>
  source === 'hook' || source === 'event-stream' || source === 'report'

const isQuiet = ({ status, waiting_for }: AgentStatus): boolean => status === 'idle' || waiting_for === 'finished'

/** Says which agents are due. */
export class LookSchedule {
  readonly #lookedAt = new Map<AgentId, number>()

  /** Those whose time has come by `nowMs`; they count as looked at from now on. */
  due(runs: readonly AgentRun[], nowMs: number): AgentId[] {
    const due = runs.filter((run) => {
      const every = lookEveryMs(run)
      return every !== undefined && nowMs - (this.#lookedAt.get(run.agent) ?? Number.NEGATIVE_INFINITY) >= every
    })
    const ids = due.map(({ agent }) => agent)
    this.looked(ids, nowMs)
    return ids
  }

  looked(agents: readonly AgentId[], nowMs: number): void {
    for (const agent of agents) this.#lookedAt.set(agent, nowMs)
  }
}
