import { type Agent, formatDuration, SkeinError } from '../../model/index.js'

/** How long somebody waits for an agent. */
export interface Patience {
  timeoutMs?: number
  signal?: AbortSignal
}

/** Whoever waited for an agent is out of time, or was interrupted, which may be at any time. */
export function gaveUp({ address }: Agent, status: string, { timeoutMs, signal }: Patience): SkeinError {
  const next = `See: skein why ${address}`
  if (signal?.aborted) return new SkeinError('interrupted', `Interrupted: ${address} is still ${status}`, next)
  const waited = timeoutMs === undefined ? '' : ` after ${formatDuration(timeoutMs)}`
  return new SkeinError('timed-out', `${address} is still ${status}${waited}`, next)
}
