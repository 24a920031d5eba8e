import { statOf } from '../../disk/index.js'
import { type Agent, type Session, SkeinError, splitAddress } from '../../model/index.js'
import { type Parts, runnerOf } from '../parts.js'
import { placeOfConversation } from '../run/account.js'
import { start } from '../run/start.js'
import { planStart } from '../run/start-plan.js'
import { kill } from '../run/stop.js'

/** Where agents are that speak for a past session. */
const GROUP = 'seance'

/**
 * Starts an agent of its own in a copy of a past session, which its tool makes: what is asked there never reaches the session itself.
 * Refused where the tool cannot copy, or has nothing left to copy.
 */
export async function callUp(parts: Parts, session: Session): Promise<Agent> {
  const { tool, cwd } = refuseSilent(parts, session)
  const place = await placeOfConversation(parts, { tool, cwd }, session.id)
  if (!place) throw silent(session, `${tool} has no log of it any more`)
  const account = place.account === undefined ? {} : { account: place.account }
  const agent = await medium(parts, session, tool, cwd)
  try {
    const plan = await planStart(parts, { agent: agent.address, tool, cwd, ...account })
    await start(parts, agent, { fork: session.id, plan })
    return agent
  } catch (error) {
    await letGo(parts, agent)
    throw error
  }
}

/** Ends and removes the agent; the copied session stays in the history. */
export async function letGo(parts: Parts, agent: Agent): Promise<void> {
  await kill(parts, agent)
  await parts.home.roster.remove(agent.id)
  parts.runs.forget(agent.id)
}

function refuseSilent(parts: Parts, session: Session): { tool: string; cwd: string } {
  const { tool, cwd, source } = session
  if (tool === undefined || cwd === undefined) throw silent(session, 'its record has no tool or no directory')
  if (source === 'run' || !runnerOf(parts, tool).can.fork) throw silent(session, `${tool} cannot copy a conversation`)
  if (!statOf(cwd)?.isDirectory()) throw silent(session, `its directory ${cwd} is gone`)
  return { tool, cwd }
}

const silent = ({ id }: Session, because: string): SkeinError =>
  new SkeinError(
    'illegal-transition',
    `Session ${id} cannot be asked: ${because}`,
    `Read what it did: skein seance read ${id}`,
  )

async function medium({ home }: Parts, session: Session, tool: string, cwd: string): Promise<Agent> {
  const name = session.agent ? splitAddress(session.agent).name : tool
  const taken = new Set<string>((await home.roster.agents()).map(({ address }) => address))
  const free = (n: number): string => {
    const address = `${GROUP}/${name}${n === 1 ? '' : `-${n}`}`
    return taken.has(address) ? free(n + 1) : address
  }
  return home.roster.add({ address: free(1), tool, project_path: cwd, title: `asks ${session.id}` })
}

/** The session that is meant, by its id, the beginning of one, or an agent: then the one it was in last. */
export const calledUp = ({ home }: Parts, reference: string): Promise<Session> => home.sessions.find(reference)
