import type { AgentView } from '../../lifecycle/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { flag, optional, repeated, type Values } from '../field.js'
import { agentRef, groupRef } from '../kind.js'
import { usageError } from '../usage-error.js'

/** Which agents an operation on several is about. */
export const MANY_AGENTS = {
  agents: repeated(agentRef, 'Addresses, unique suffixes, titles, ids, or . for the current directory'),
  group: optional(groupRef, 'Every agent in this group or below', { aliases: ['rig'] }),
  all: flag('Every agent'),
}

/** The agents that are meant, and whether one agent was named. */
export interface Selection {
  readonly agents: readonly Pick<Agent, 'id' | 'address'>[]
  readonly isOne: boolean
}

/**
 * Every name is looked up before anything is done, so that a mistyped one changes nothing. Of a group, or of all, those are
 * taken that `wants` says there is something to do for; archived ones never.
 */
export async function selectAgents(
  { agents: references, group, all }: Values<typeof MANY_AGENTS>,
  context: Pick<OperationContext, 'home' | 'agents'>,
  { usage, wants }: { usage: string; wants: (agent: AgentView) => boolean },
): Promise<Selection> {
  const isNamed = references.length > 0
  if (isNamed && (group !== undefined || all)) {
    throw usageError('Agent names cannot be combined with --group or --all', 'Leave out one of them')
  }
  if (!isNamed && group === undefined && !all) {
    throw usageError('Missing <agents>', `Usage: ${usage} <agents...>, or --group <group>, or --all`)
  }
  if (!isNamed) {
    const found = await (await context.agents()).list(group === undefined ? {} : { group })
    return { agents: found.filter(wants), isOne: false }
  }
  const { roster } = await context.home()
  const named = new Map<string, Agent>()
  for (const reference of references) {
    const agent = await roster.agent(reference).catch(async (error) => {
      const isUnknown = error instanceof SkeinError && error.code === 'agent-not-found'
      if (!isUnknown || !(await roster.groups()).some(({ path }) => path === reference)) throw error
      throw new SkeinError('agent-not-found', `${reference} is a group`, `Write: ${usage} --group ${reference}`)
    })
    named.set(agent.id, agent)
  }
  return { agents: [...named.values()], isOne: references.length === 1 }
}

/** A program of it may run. */
export const isUp = ({ status }: AgentView): boolean => status !== 'stopped' && status !== 'asleep'

/** No program of it runs. */
export const isDown = (agent: AgentView): boolean =>
  !isUp(agent) || (agent.trouble !== undefined && ['dead-pane', 'exited', 'tmux-gone'].includes(agent.trouble))
