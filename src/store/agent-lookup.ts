import { join } from 'node:path'
import { realPath, textIn } from '../disk/index.js'
import {
  type Agent,
  type AgentId,
  agentsNamed,
  agentsWithId,
  isSessionId,
  nearest,
  type Roster,
  type SessionId,
  SkeinError,
} from '../model/index.js'
import { ask, type Lookup } from './lookup.js'
import type { ProfilePaths } from './paths.js'

/** What names are looked up in: the roster, and what is known of the agents' sessions. */
export interface AgentLookup {
  /** The directory with a file per agent that was ever started. */
  readonly agentFiles: string
  /** Where the person is who says `.`; asked for only then. */
  readonly cwd: string | undefined
}

export const lookupIn = ({ agents }: Pick<ProfilePaths, 'agents'>, cwd?: () => string): AgentLookup => ({
  agentFiles: agents,
  get cwd() {
    return cwd?.()
  },
})

const MOST_NAMED = 5

/** The agent that is meant. Every command, the daemon and the library ask here. */
export function* agentMeant(reference: string, lookup: AgentLookup): Lookup<Agent> {
  return yield* findAgent(yield* ask((index) => index.roster()), reference, lookup)
}

/** The same in a roster that the index may not have yet. */
export function* findAgent(roster: Roster, reference: string, lookup: AgentLookup): Lookup<Agent> {
  const agents = [...roster.agents.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
  const named = agentsNamed(reference, agents, {
    cwd: reference === '.' ? withoutLinks(lookup.cwd) : undefined,
    directoryOf: (agent) => withoutLinks(agentFile(lookup, agent.id)?.cwd ?? agent.project_path),
  })
  const meant = named ?? agentsWithId(reference, agents, yield* sessionsOf(agents, lookup))
  const [only] = meant
  if (only && meant.length === 1) return only
  if (only) throw ambiguous(reference, meant)
  throw agentNotFound(reference, agents, lookup)
}

function* sessionsOf(agents: readonly Agent[], lookup: AgentLookup): Lookup<Map<AgentId, SessionId>> {
  const sessions = new Map<AgentId, SessionId>()
  for (const agent of agents) {
    const session = yield* currentSession(agent, lookup)
    if (session !== undefined) sessions.set(agent.id, session)
  }
  return sessions
}

/** The address of the agent that is meant; what names none is left as it is, for agents that were removed. */
export function* addressMeant(reference: string, lookup: AgentLookup): Lookup<string> {
  try {
    return (yield* agentMeant(reference, lookup)).address
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'agent-not-found' && reference !== '.') return reference
    throw error
  }
}

/** The session an agent is in, or was in last. */
export function* currentSession(
  agent: Pick<Agent, 'id' | 'address'>,
  lookup: AgentLookup,
): Lookup<SessionId | undefined> {
  const bound = agentFile(lookup, agent.id)?.session
  if (bound !== undefined) return bound
  const { sessions } = yield* ask((index) => index.list({ agent: agent.address, limit: 1 })) // recorded by hand
  return sessions[0]?.id
}

/** The two facts that names need of `agents/<id>.json`, which `src/lifecycle` writes. A damaged file has none: its owner repairs it. */
function agentFile({ agentFiles }: AgentLookup, id: AgentId): { cwd?: string; session?: SessionId } | undefined {
  try {
    const { recipe, binding } = JSON.parse(textIn(join(agentFiles, `${id}.json`)) ?? '')
    return {
      ...(typeof recipe?.cwd === 'string' ? { cwd: recipe.cwd } : {}),
      ...(isSessionId(binding?.session) ? { session: binding.session } : {}),
    }
  } catch {
    return undefined
  }
}

/** As the system names the directory one is in. */
const withoutLinks = (path: string | undefined): string | undefined => path && realPath(path)

function ambiguous(reference: string, meant: readonly Agent[]): SkeinError {
  const some = meant.slice(0, MOST_NAMED).map(({ address }) => address)
  const rest = meant.length > MOST_NAMED ? `, and ${meant.length - MOST_NAMED} more` : ''
  const fits = `${JSON.stringify(reference.slice(0, 260))} fits ${meant.length} agents: ${some.join(', ')}${rest}`
  return new SkeinError('ambiguous-id', fits, 'Use the full address')
}

function agentNotFound(reference: string, agents: readonly Agent[], lookup: AgentLookup): SkeinError {
  if (reference === '.') {
    const { cwd } = lookup // asked only here: the directory may be gone, which concerns no other name
    const where = cwd === undefined ? 'here: "." works only on the command line' : `in ${cwd}`
    return new SkeinError('agent-not-found', `No agent works ${where}`, 'See: skein list')
  }
  const meant = nearest(
    reference,
    agents.map(({ address }) => address),
  )
  const next = meant ? `Did you mean ${meant} ?` : 'Try: skein list'
  return new SkeinError('agent-not-found', `No agent ${JSON.stringify(reference.slice(0, 260))}`, next)
}
