import { type Instant, msOf, type Role } from '../../model/index.js'
import type { AgentRun, Respawn, RunEnd } from '../agent-run.js'
import { holdOf } from './hold.js'

/** When an agent is started again after it ended unasked. */
export interface RespawnRule {
  respawn: Role['respawn']
  /** Before the first respawn; doubled with each, up to `mostMs`. */
  backoffMs: number
  mostMs: number
  /** So many respawns per unit of work, then it is parked. */
  limit: number
}

/**
 * What is to be done about an agent that has just ended; undefined when nothing is. Pure. A run that lived longer than the longest
 * backoff was calm: what came before it no longer counts, nor does another unit of work.
 */
export function decideRespawn(run: AgentRun, address: string, rule: RespawnRule, now: Instant): Respawn | undefined {
  const { run: ended, recipe, respawn: before } = run
  const end = ended?.end
  if (!ended || ended.ended_at === undefined || !end || run.archived_at !== undefined || !isWanted(end, rule))
    return undefined
  if (before?.run === ended.id) return undefined // decided already
  const isCalm = msOf(ended.ended_at) - msOf(ended.started_at) > rule.mostMs
  const isSameWork = before?.work === recipe.work
  const count = before && isSameWork && !isCalm ? before.count : 0
  const known = { run: ended.id, count, at: now, ...(recipe.work ? { work: recipe.work } : {}) }
  const next = `skein recover ${address}`
  const hold = holdOf(run, msOf(now))
  if (hold) {
    // Whatever it says, it is not started again for ever.
    const until = count < rule.limit ? hold.until : undefined
    const parked = { kind: 'held' as const, reason: hold.reason, next: `When it can work again: ${next}` }
    if (!until) return { ...known, parked }
    return { ...known, count: count + 1, delay_ms: rule.backoffMs, parked: { ...parked, until } }
  }
  if (count >= rule.limit) {
    const on = recipe.work ? ` on ${recipe.work}` : ''
    const reason = `it ended ${count + 1} times${on}, last: ${end.reason}`
    return { ...known, parked: { kind: 'loop', reason, next: `When its cause is mended: ${next}` } }
  }
  return { ...known, count: count + 1, delay_ms: Math.min(rule.backoffMs * 2 ** count, rule.mostMs) }
}

function isWanted({ how }: RunEnd, { respawn }: RespawnRule): boolean {
  if (respawn === 'never' || how === 'stopped' || how === 'killed') return false
  return respawn === 'always' || how !== 'exited'
}

/** Not one that is left down until somebody brings it back. */
export const isToCome = ({ parked }: Respawn): boolean => !parked || parked.until !== undefined

/**
 * How long is still to wait: after its end, or after the end of the limit that holds it; undefined for one that is left down. A clock that
 * was set back makes it no longer than the whole wait.
 */
export function waitLeft({ at, delay_ms = 0, parked }: Respawn, nowMs: number): number | undefined {
  if (parked && !parked.until) return undefined
  const whole = Math.max(0, msOf(parked?.until ?? at) - msOf(at)) + delay_ms
  return Math.max(0, Math.min(msOf(at) + whole - nowMs, whole))
}
