import { type AgentRun, liveRun, type Parked, type RunEnd } from '../agent-run.js'

/** That an agent is down, though nobody asked for it or by `skein down`, and why. */
export interface Fall {
  how: 'crashed' | 'lost' | 'stopped'
  reason: string
  /** The watchdog has given it up: it is brought back only when it is named, or with all. */
  parked?: Parked
}

/** Undefined for an agent that runs, that was stopped, that left by itself, that is archived or was never started. */
export function fallOf(run: AgentRun | undefined): Fall | undefined {
  if (!run || run.archived_at !== undefined || liveRun(run)) return undefined
  if (run.launching && run.launching.id !== run.run?.id) return { how: 'lost', reason: 'its start was interrupted' }
  const end = run.run && (run.run.end ?? endByStatus(run))
  if (!end || (end.how !== 'crashed' && end.how !== 'lost')) return undefined
  const parked = run.respawn?.run === run.run?.id ? run.respawn?.parked : undefined
  return { how: end.how, reason: end.reason, ...(parked ? { parked } : {}) }
}

/** Earlier versions kept only the status. */
function endByStatus({ status }: AgentRun): RunEnd | undefined {
  const { reason = 'it ended', trouble } = status
  if (status.status !== 'error') return undefined
  return { how: trouble === 'tmux-gone' ? 'lost' : 'crashed', reason }
}
