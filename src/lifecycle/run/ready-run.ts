import type { NewEvent } from '../../home/index.js'
import type { Agent } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { type PreparedRun, type ReadyRun, writeRun } from './launch.js'
import { livingHolder } from './resume-plan.js'

/**
 * The run, written. A session id that the program told us when it was asked may be that of another agent, which keeps it: two programs
 * must not write into one conversation. The newcomer is started without an id then. `claim` is held until the agent's file names its session.
 */
export async function readyRun(
  parts: Parts,
  agent: Agent,
  prepared: PreparedRun,
): Promise<{ readied: ReadyRun; claim?: Disposable; refused?: Omit<NewEvent, 'agent'> }> {
  const readied = await writeRun(parts, prepared)
  const { session } = readied
  if (!prepared.preparation.capture || !session) return { readied }
  const claim = await parts.runs.holdResume()
  try {
    const holder = await livingHolder(parts, session, agent)
    if (!holder) return { readied, claim }
    readied.discard()
    const { capture: _capture, ...preparation } = prepared.preparation
    const because = `it is already the conversation of ${holder.agent.address}`
    const payload = {
      agent_id: agent.id,
      session,
      because,
      evidence: { how: 'captured', run: prepared.launch.spool.run },
    }
    return {
      readied: await writeRun(parts, { ...prepared, preparation }),
      claim,
      refused: { type: 'identity_refuse', payload },
    }
  } catch (error) {
    claim[Symbol.dispose]()
    throw error
  }
}
