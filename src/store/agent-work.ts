import type { LocalIndex } from '../index/index.js'
import { type Agent, type GroupPath, type Instant, isWithin, type WorkUnit } from '../model/index.js'
import type { Draft } from './write-batch.js'

const ALL = 1_000_000

/** An agent that is removed leaves its work to others. Its mail stays under its address. */
export function releasedWork(index: LocalIndex, agent: Agent, now: Instant): Draft[] {
  const units = index.items({ kind: 'work', agent, isHooked: true, isSettled: false, order: 'urgent', limit: ALL })
  return units.flatMap(({ agent: _, agent_id: __, ...unit }) => [
    changed({ ...unit, status: 'open', updated_at: now }),
    { type: 'unhook', agent: agent.address, payload: { work_unit: unit.id, status: 'open', reason: 'agent removed' } },
  ])
}

/** Work follows its group: below a new path as before, into one target, or into none. */
export function regroupedWork(
  index: LocalIndex,
  from: GroupPath,
  placeOf: (group: GroupPath) => GroupPath | undefined,
  now: Instant,
): Draft[] {
  const units = index.items({ kind: 'work', group: from, isSettled: false, order: 'urgent', limit: ALL })
  return units
    .filter(({ group }) => group !== undefined && isWithin(group, from))
    .map(({ group = from, ...unit }) => {
      const to = placeOf(group)
      return changed({ ...unit, ...(to === undefined ? {} : { group: to }), updated_at: now })
    })
}

const changed = (unit: WorkUnit): Draft => ({ type: 'work_changed', payload: { unit } })
