import type { Receipt } from '../../lifecycle/index.js'
import type { Agent } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { duration } from '../duration.js'
import { optional } from '../field.js'
import { groupRef } from '../kind.js'
import { operation } from '../operation.js'
import { doEach, type Failure } from './each.js'
import { type Recovery, recoverAgents, SPACING } from './recover.js'

const GRACE_MS = 10_000
/** Agents without a role are stopped with the workers, before those that watch over them. */
const NO_ROLE_ORDER = 0

export interface WentDown {
  /** In the order in which they were stopped. */
  receipts: Receipt[]
  failures?: Failure[]
}

export const agentsDown = operation({
  name: 'agents.down',
  does: 'acts',
  where: 'either',
  summary: 'Stop every agent, to be brought back by skein up',
  description:
    'In the order of their roles: workers first, then those that watch over them. Each is asked to exit, then its processes are ended. The agents that were running are remembered. With --all the daemon is stopped as well, at the end.',
  input: {
    group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }),
    graceful: optional(duration, 'How long each may take to exit', { fallback: '10s' }),
  },
  result: 'receipts',
  async run({ group, graceful = GRACE_MS }, context): Promise<WentDown> {
    const agents = await context.agents()
    const receipts: Receipt[] = []
    const failures: Failure[] = []
    for (const wave of await wavesOf(context, group)) {
      const { done, failures: failed = [] } = await doEach(
        wave.map(({ id, address }) => ({ agent: address, run: () => agents.down(id, { graceMs: graceful }) })),
      )
      receipts.push(...done)
      failures.push(...failed)
    }
    return { receipts, ...(failures.length > 0 ? { failures } : {}) }
  },
})

/** Agents that run, those that are stopped together in one list, first ones first. */
async function wavesOf(context: OperationContext, group: string | undefined): Promise<Agent[][]> {
  const home = await context.home()
  const roles = await home.programs.roles()
  const within = new Set((await home.roster.agents(group === undefined ? {} : { group })).map(({ id }) => id))
  const running = (await (await context.agents()).running()).filter(({ id }) => within.has(id))
  const orderOf = (agent: Agent): number => roles.of(agent)?.shutdown_order ?? NO_ROLE_ORDER
  const orders = [...new Set(running.map(orderOf))].sort((a, b) => a - b)
  return orders.map((order) => running.filter((agent) => orderOf(agent) === order))
}

export const agentsUp = operation({
  name: 'agents.up',
  does: 'acts',
  where: 'either',
  summary: 'Start the agents that skein down has stopped',
  description:
    'Each in its own conversation, with the settings it had, spaced out like skein recover. Agents that were stopped otherwise stay stopped.',
  input: { group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }), spacing: SPACING },
  result: 'recovery',
  async run({ group, spacing }, context): Promise<Recovery> {
    return recoverAgents({ agents: [], group, all: false, dry_run: false, spacing }, context, { isUp: true })
  },
})
