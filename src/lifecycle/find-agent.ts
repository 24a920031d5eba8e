import type { Home } from '../home/index.js'
import { type Agent, SkeinError } from '../model/index.js'

/** An agent by address, by id, or by an end of its address that no other has. */
export async function findAgent(home: Home, reference: string): Promise<Agent> {
  const wanted = reference.normalize('NFC')
  const agents = await home.roster.agents()
  const exact = agents.find((agent) => agent.address === wanted || agent.id === wanted)
  if (exact) return exact
  const ends = wanted === '' ? [] : agents.filter((agent) => agent.address.endsWith(`/${wanted}`))
  const [only] = ends
  if (only && ends.length === 1) return only
  if (ends.length > 1) {
    const some = ends.slice(0, 5).map((agent) => agent.address)
    const fits = `${JSON.stringify(wanted)} fits ${ends.length} agents: ${some.join(', ')}`
    throw new SkeinError('ambiguous-id', fits, 'Give more of the address')
  }
  return home.roster.agent(reference) // says what was meant
}
