import { type Instant, msOf, type Role } from '../../model/index.js'
import type { AgentRun, Respawn, RunEnd } from '../agent-run.js'

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
  const held = heldBy(run)
  if (held !== undefined)
    return { ...known, parked: { kind: 'held', reason: held, next: `When it can work again: ${next}` } }
  if (count >= rule.limit) {
    const on = recipe.work ? ` on ${recipe.work}` : ''
    const reason = `it ended ${count + 1} times${on}, last: ${end.reason}`
    return { ...known, parked: { kind: 'loop', reason, next: `See skein why ${address} , then: ${next}` } }
  }
  return { ...known, count: count + 1, delay_ms: Math.min(rule.backoffMs * 2 ** count, rule.mostMs) }
}

function isWanted({ how }: RunEnd, { respawn }: RespawnRule): boolean {
  if (respawn === 'never' || how === 'stopped' || how === 'killed') return false
  return respawn === 'always' || how !== 'exited'
}

/** A program that cannot log in or may not work for now would only fail again. Its words say until when, where it knows. */
function heldBy({ turn_end, told = [], status }: AgentRun): string | undefined {
  const last = told.at(-1)
  const trouble = turn_end?.how === 'failed' ? turn_end.trouble : (last?.trouble ?? status.trouble)
  if (trouble !== 'auth' && trouble !== 'usage-limit') return undefined
  const what = trouble === 'auth' ? 'it could not log in' : 'it has reached its usage limit'
  const said = turn_end?.reason ?? last?.reason
  return said === undefined ? what : `${what}: ${said}`
}

/** How long is still to wait. A clock that was set back makes it no longer than the whole delay. */
export function waitLeft({ at, delay_ms = 0 }: Respawn, nowMs: number): number {
  const left = msOf(at) + delay_ms - nowMs
  return Math.max(0, Math.min(left, delay_ms))
}
