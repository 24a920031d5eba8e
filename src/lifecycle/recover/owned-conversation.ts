import { dirname, join } from 'node:path'
import { statOf, textIn } from '../../disk/index.js'
import { type Agent, type SessionId, SkeinError } from '../../model/index.js'
import { type AgentRun, readAgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/**
 * Refuses to resume a conversation that is not provably the agent's own: this home is a copy of one that still has it, or the file of
 * another agent names the same session. Two programs must never write into one conversation.
 */
export async function refuseForeign(parts: Parts, agent: Agent, run: AgentRun, session: SessionId): Promise<void> {
  const original = originalHome(parts, run, session)
  if (original) {
    const what = `This home is a copy of ${dirname(original)}, whose agent has the conversation ${session}`
    throw new SkeinError('foreign-conversation', what, freshly(agent))
  }
  const rival = await rivalOf(parts, agent, run, session)
  if (!rival) return
  const what = `Session ${session} is not provably the conversation of ${agent.address}: ${rival.address} has the same id`
  throw new SkeinError('foreign-conversation', what, freshly(agent))
}

const freshly = ({ address }: Agent): string => `Begin another conversation: skein restart ${address} --fresh`

/** The agents directory of the home that started the run, where that is another one and still has the conversation. */
function originalHome({ home }: Parts, { agent, run, launching }: AgentRun, session: SessionId): string | undefined {
  const began = (launching ?? run)?.home
  const here = home.paths.agents
  if (began === undefined || began === here || isSameDirectory(began, here)) return undefined
  const path = join(began, `${agent}.json`)
  const text = textIn(path)
  return text !== undefined && holds(readAgentRun(text, path), session) ? began : undefined
}

function isSameDirectory(one: string, other: string): boolean {
  const [a, b] = [statOf(one), statOf(other)]
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** Another agent whose file names the session, unless the record of the session, or else its age, speaks for this one. */
async function rivalOf(
  { home, runs }: Parts,
  agent: Agent,
  run: AgentRun,
  session: SessionId,
): Promise<Agent | undefined> {
  const holding = (await runs.all()).filter((one) => one.agent !== agent.id && holds(one, session))
  if (holding.length === 0) return undefined
  const roster = new Map((await home.roster.agents()).map((one) => [one.id, one]))
  const others = holding.filter((one) => roster.has(one.agent))
  if (others.length === 0) return undefined
  const owner = (await home.sessions.get(session))?.agent_id
  if (owner === agent.id) return undefined
  const named = others.find((one) => one.agent === owner)
  const since = run.binding?.since ?? ''
  const rival = named ?? others.find((one) => (one.binding?.since ?? '') <= since)
  return rival && roster.get(rival.agent)
}

function holds(run: AgentRun | undefined, session: SessionId): boolean {
  const kept = Object.values(run?.other_tools ?? {}).map(({ binding }) => binding)
  return [run?.binding, ...kept].some((binding) => binding?.session === session)
}
