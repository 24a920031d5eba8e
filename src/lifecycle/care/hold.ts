import { type Instant, msOf, type Trouble } from '../../model/index.js'
import { resetTimeOf } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import { activityOf } from '../status/evidence.js'

/** What keeps an agent from working, and would keep it from working again at once. */
export interface Hold {
  /** In words, with those of its program. */
  reason: string
  /** When a usage limit ends, where the program says so. */
  until?: Instant
}

/** Undefined for an agent that may work, or whose limit has ended by now. */
export function holdOf(run: AgentRun, nowMs: number): Hold | undefined {
  const said = lastFailure(run)
  if (!said || !isHolding(said.trouble)) return undefined
  const what = said.trouble === 'auth' ? 'it could not log in' : 'it has reached its usage limit'
  const until = said.trouble === 'auth' ? undefined : resetTime(run, said)
  if (until !== undefined && msOf(until) <= nowMs) return undefined
  return { reason: said.reason === undefined ? what : `${what}: ${said.reason}`, ...(until ? { until } : {}) }
}

export const isHolding = (trouble: Trouble | undefined): boolean => trouble === 'auth' || trouble === 'usage-limit'

/** When the limit ends: by the last that was said of it, else by what was said of it before. A screen may show only a part of the sentence. */
function resetTime({ turn_end, told = [], sample, run }: AgentRun, said: Failure): Instant | undefined {
  const since = run?.started_at ?? ''
  const isSame = (one: Failure): boolean => one.trouble === said.trouble && one.at >= since
  const others = [turn_end, sample, told.findLast(isSame)].flatMap((one) => (one && isSame(one) ? [one] : []))
  for (const { reason, at } of [said, ...others]) {
    const until = resetTimeOf(reason ?? '', msOf(at))
    if (until !== undefined) return until
  }
  return undefined
}

interface Failure {
  at: Instant
  trouble?: Trouble
  reason?: string
}

/**
 * What its program left with; else what its screen showed since it was last heard; else how the last turn failed, unless another has begun
 * since; else what was said last.
 */
function lastFailure({ turn_end, told = [], status, run, sample }: AgentRun): Failure | undefined {
  if (run?.end?.trouble && run.ended_at) return { ...run.end, at: run.ended_at }
  const last = told.at(-1)
  if (sample && isHolding(sample.trouble) && sample.at > (last?.at ?? run?.started_at ?? '')) return sample
  const isAtWork = last !== undefined && activityOf(last) === 'running'
  if (turn_end?.how === 'failed' && !(isAtWork && last.at > turn_end.at)) return turn_end
  return last ?? { ...status, at: status.since }
}
