import { type Agent, beacon, beaconText, type Roles, recipientOf, SkeinError, splitAddress } from '../../model/index.js'
import { nowOf, type Parts } from '../parts.js'

/** Work may be kept by another program. Without its answer the agent begins all the same: its prime names what is on its hook. */
const WAIT_MS = 1_500

/** A program waits for its first prompt: this one says who the agent is and why it was started, so that it begins. */
export async function beaconFor(
  parts: Parts,
  agent: Agent,
  {
    roles,
    role = agent.role,
    isPrimed,
    topic,
    sender,
  }: { roles: Roles; role?: string | undefined; isPrimed: boolean; topic: string; sender: string },
): Promise<string> {
  const { group, name } = splitAddress(agent.address)
  const identity = roles.parse(agent.address) ?? { role: role ?? 'agent', name, ...(group ? { group } : {}) }
  const molecule = await moleculeOf(parts, agent)
  return beaconText(
    beacon({
      recipient: recipientOf(identity, wordOf(roles)),
      sender,
      at: nowOf(parts),
      zone: parts.home.programs.zone(),
      topic,
      ...(molecule ? { molecule } : {}),
      preset: roles.preset,
      isPrimed,
    }),
  )
}

/** The plan that the work on its hook belongs to. */
async function moleculeOf({ home }: Parts, { address, id }: Agent): Promise<string | undefined> {
  try {
    const { work } = await home.work.hooked({ address, id }, { waitMs: WAIT_MS })
    return work.find(({ molecule_id }) => molecule_id !== undefined)?.molecule_id
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return undefined
  }
}

export const wordOf = ({ preset }: Roles): 'rig' | 'group' => (preset === 'gastown' ? 'rig' : 'group')
