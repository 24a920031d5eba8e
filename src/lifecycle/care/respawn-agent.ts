import { type Agent, instantOf, SkeinError } from '../../model/index.js'
import { liveRun, type Parked, type Respawn } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'
import { endLost } from '../recover/end-lost.js'
import { planRecovery, restoreLog } from '../recover/recovery-plan.js'
import { lifeOfRun } from '../run/run-life.js'
import { start } from '../run/start.js'
import { refuseParked } from '../sling/admission.js'
import { hasNoTerminal } from '../status/stranded.js'
import { decideRespawn, isToCome, type RespawnRule } from './respawn.js'

/** Decides about an agent that has ended, and keeps it in its file; undefined when there is nothing to do, or it was decided before. */
export async function considerRespawn(parts: Parts, agent: Agent, rule: RespawnRule): Promise<Respawn | undefined> {
  return parts.runs.update(agent, (current) => {
    if (!current || liveRun(current) || current.launching) return undefined
    const respawn = decideRespawn(current, agent.address, rule, nowOf(parts))
    return respawn && { next: { ...current, respawn }, result: respawn }
  })
}

/**
 * Ends the process of an agent that has lost its tmux server or its pane, if the rule wants the agent back: it can be reached by nobody,
 * and its end is decided about like any other.
 */
export async function endStranded(parts: Parts, agent: Agent, { respawn }: RespawnRule): Promise<void> {
  const run = await parts.runs.read(agent.id)
  const live = liveRun(run)
  if (respawn === 'never' || !live || live.asked || !run || !hasNoTerminal(run.status)) return
  if (lifeOfRun(live) === 'alive') await endLost(parts, agent, live)
}

/** A respawn that was decided before this process began, and is still to come. */
export function pendingRespawn({
  respawn,
  run,
}: {
  respawn?: Respawn
  run?: { id: string; ended_at?: string }
}): Respawn | undefined {
  if (!respawn || !run?.ended_at || respawn.run !== run.id) return undefined
  return isToCome(respawn) ? respawn : undefined
}

/** What came of a respawn, in words, or why the agent is parked instead. */
export type Respawned = { did: string } | { parked: Parked }

/**
 * Starts an agent again whose time has come. Undefined when it is no longer wanted: somebody has started, stopped,
 * archived or removed it since. What cannot be brought back is parked with the reason.
 */
export async function respawnAgent(parts: Parts, agent: Agent, decided: Respawn): Promise<Respawned | undefined> {
  const run = await parts.runs.read(agent.id)
  const isDue =
    run?.run?.id === decided.run &&
    run.run.ended_at !== undefined &&
    run.respawn?.run === decided.run &&
    isToCome(run.respawn) &&
    run.archived_at === undefined &&
    run.run.end?.how !== 'stopped' &&
    run.run.end?.how !== 'killed'
  if (!run || !isDue) return undefined
  try {
    await refuseParked(parts.home, agent.address, ` , then: skein recover ${agent.address}`)
    const plan = await planRecovery(parts, agent, run)
    await restoreLog(parts, agent, plan)
    const { session } = await start(parts, agent, { asBefore: true, isRespawn: true, fresh: plan.isNew })
    return { did: `${plan.outcome}${session === undefined ? '' : ` in ${session}`}` }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    if (error.code === 'agent-running' || error.code === 'agent-busy') return undefined
    // One that died at once has ended again, which is decided about like any other end.
    if (error.code === 'agent-died' && (await parts.runs.read(agent.id))?.run?.id !== decided.run)
      return { did: error.message }
    const parked = { kind: 'refused' as const, reason: error.message, next: error.next }
    await park(parts, agent, decided, parked)
    return { parked }
  }
}

async function park(parts: Parts, agent: Agent, decided: Respawn, parked: Parked): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (current?.respawn?.run !== decided.run) return undefined
    const at = instantOf(parts.context.clock.now())
    return { next: { ...current, respawn: { ...current.respawn, at, parked } }, result: undefined }
  })
}
