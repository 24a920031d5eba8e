import { statOf } from '../../disk/index.js'
import { type Agent, type Session, SkeinError } from '../../model/index.js'
import { type Parts, pause, runnerOf } from '../parts.js'
import { start } from '../run/start.js'
import { planStart } from '../run/start-plan.js'
import { observe } from '../status/observe.js'
import { letGo, makeMedium, sweepMediums } from './medium.js'

const LOOK_MS = 200

export interface CallUp {
  /** The agent is removed with this process. */
  isForOneQuestion: boolean
  timeoutMs: number
  signal?: AbortSignal
}

/**
 * Starts an agent of its own in a copy of a past session, which its tool makes: what is asked there never reaches the session itself.
 * Refused where the tool cannot copy, or has nothing left to copy.
 */
export async function callUp(parts: Parts, session: Session, options: CallUp): Promise<Agent> {
  await sweepMediums(parts)
  const { tool, cwd } = refuseSilent(parts, session)
  if ((await runnerOf(parts, tool).hasConversation?.(session.id, parts.environment)) === false)
    throw silent(session, `${tool} has no log of it any more`)
  const agent = await makeMedium(parts, session, { tool, cwd, ...options })
  try {
    const plan = await planStart(parts, { agent: agent.address, tool, cwd })
    await start(parts, agent, { fork: session.id, isAside: options.isForOneQuestion, plan })
    await untilLoaded(parts, agent, options)
    return agent
  } catch (error) {
    await letGo(parts, agent)
    throw error
  }
}

/** Some programs show the prompt of an empty conversation before the copy is made: what is sent then is asked of nobody. */
async function untilLoaded(parts: Parts, agent: Agent, { timeoutMs, signal }: CallUp): Promise<void> {
  for (const end = performance.now() + timeoutMs; !signal?.aborted && performance.now() < end; ) {
    const [seen] = await observe(parts, new Set([agent.id]))
    if (seen?.isOver || (seen?.verdict?.status.status !== 'starting' && !seen?.reading?.isNew)) return
    await pause(LOOK_MS, signal)
  }
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

/** The session that is meant, by its id, the beginning of one, or an agent: then the one it was in last. */
export const calledUp = ({ home }: Parts, reference: string): Promise<Session> => home.sessions.find(reference)
