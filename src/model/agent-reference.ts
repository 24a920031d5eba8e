import type { Agent } from './agent.js'
import type { AgentId } from './ids.js'

/** What a reference to an agent is compared with, beside the agents themselves. */
export interface AgentFacts {
  /** Where the person is who says `.`; absent where there is no such place, as in the daemon. */
  readonly cwd?: string | undefined
  /** The directory an agent works in. */
  directoryOf(agent: Agent): string | undefined
}

/** A beginning of an id that is shorter than this is more likely a mistyped name. */
const LEAST_OF_AN_ID = 4

/**
 * The agents that a reference may mean: by address or id; by the end of an address or the title; by `.`, where it works. The first way
 * that fits any agent decides. One match is the answer, several are an ambiguity: the caller says so. Undefined when no name fits and
 * the reference may be the beginning of an id: then `agentsWithId` decides.
 */
export function agentsNamed(reference: string, agents: readonly Agent[], facts: AgentFacts): Agent[] | undefined {
  if (reference === '.') return agentsIn(facts.cwd, agents, facts)
  const wanted = reference.normalize('NFC')
  if (wanted === '') return []
  const exact = agents.find((agent) => agent.address === wanted || agent.id === wanted)
  if (exact) return [exact]
  const named = agents.filter(({ address, title }) => address.endsWith(`/${wanted}`) || title === wanted)
  return named.length > 0 || wanted.length < LEAST_OF_AN_ID ? named : undefined
}

/** By the beginning of the agent's id, or of the id of the session it is in. */
export function agentsWithId(
  reference: string,
  agents: readonly Agent[],
  sessions: ReadonlyMap<AgentId, string>,
): Agent[] {
  const wanted = reference.normalize('NFC')
  return agents.filter(({ id }) => id.startsWith(wanted) || sessions.get(id)?.startsWith(wanted))
}

/** Those that work in this directory, or else in the nearest one above it. */
function agentsIn(cwd: string | undefined, agents: readonly Agent[], { directoryOf }: AgentFacts): Agent[] {
  for (let at = cwd; at; at = parentOf(at)) {
    const here = agents.filter((agent) => directoryOf(agent) === at)
    if (here.length > 0) return here
  }
  return []
}

const parentOf = (path: string): string | undefined =>
  path === '/' ? undefined : path.slice(0, path.lastIndexOf('/')) || '/'
