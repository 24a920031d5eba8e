import type { Home, WorkAgent } from '../../home/index.js'
import { parseAddress, SkeinError } from '../../model/index.js'

/** The agent that is meant, or whoever reads what is sent to that address: a role without an agent yet, a person. */
export async function readerMeant({ roster }: Home, reference: string): Promise<WorkAgent> {
  try {
    const { id, address } = await roster.agent(reference)
    return { id, address }
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'agent-not-found' || reference === '.') throw error
    return { address: parseAddress(reference.replace(/\/$/, '')) } // Gas Town writes mayor/
  }
}

/** Who acts: the agent that is named, else whoever the change is recorded for. */
export const senderOf = async (home: Home, agent: string | undefined): Promise<WorkAgent | undefined> =>
  agent === undefined ? undefined : readerMeant(home, agent)
