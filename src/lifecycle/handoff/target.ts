import { type Agent, SkeinError } from '../../model/index.js'
import { findAgent } from '../find-agent.js'
import type { Parts } from '../parts.js'

/** Who hands off, and what is hooked first. */
export interface HandoffTarget {
  agent: Agent
  work?: string
}

/**
 * What the word after `handoff` means: a unit of work (the caller hands off with it on its hook), an agent, or a role that one agent has.
 * A word that means two of them is refused.
 */
export async function handoffTarget(
  parts: Parts,
  self: Agent | undefined,
  word: string | undefined,
): Promise<HandoffTarget> {
  if (word === undefined) return { agent: self ?? refuseNobody() }
  let problem: SkeinError | undefined
  // An agent hands off whether or not its work can be read.
  const unreadable = (error: unknown): undefined => {
    if (!(error instanceof SkeinError && error.code === 'work-provider')) throw error
    problem = error
  }
  const [unit, agent, role] = await Promise.all([
    unless('work-not-found', parts.home.work.show(word)).catch(unreadable),
    unless('agent-not-found', findAgent(parts.home, word)),
    agentsOfRole(parts, word),
  ])
  // An agent is usually named like its role, where there is one of each.
  const others = role.filter(({ id }) => id !== agent?.id)
  const meanings = [
    ...(unit ? [`work ${unit.id}`] : []),
    ...(agent ? [`agent ${agent.address}`] : []),
    ...(others.length > 0 ? [`role ${word} (${others.map(({ address }) => address).join(', ')})`] : []),
  ]
  if (meanings.length > 1 || (!agent && others.length > 1)) {
    const next = 'Name the agent by its whole address, or the unit of work by its whole id'
    throw new SkeinError('ambiguous-id', `${JSON.stringify(word)} is ${meanings.join(' and ')}`, next)
  }
  if (unit) return { agent: self ?? refuseNobody(), work: unit.id }
  if (problem && meanings.length === 0) throw problem
  const [only] = agent ? [agent] : others
  if (only) return { agent: only }
  throw new SkeinError(
    'agent-not-found',
    `${JSON.stringify(word.slice(0, 80))} is neither an agent, nor a role that an agent has, nor a unit of work`,
    'List them: skein list , skein work list',
  )
}

const agentsOfRole = async ({ home }: Parts, role: string): Promise<Agent[]> =>
  (await home.roster.agents()).filter((agent) => agent.role === role)

async function unless<T>(code: string, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof SkeinError && (error.code === code || error.code === 'bad-id')) return undefined
    throw error
  }
}

function refuseNobody(): never {
  const next = 'Name the agent: skein handoff <agent> . Inside an agent, SKEIN_AGENT names it'
  throw new SkeinError('usage', 'Which agent hands off is not clear', next)
}
