import { type Agent, beacon, beaconText, type Roles, recipientOf, splitAddress } from '../../model/index.js'
import { nowOf, type Parts } from '../parts.js'

/** A program waits for its first prompt: this one says who the agent is and why it was started, so that it begins. */
export function beaconFor(
  parts: Parts,
  agent: Agent,
  {
    roles,
    role = agent.role,
    isPrimed,
    topic,
    sender,
  }: { roles: Roles; role?: string | undefined; isPrimed: boolean; topic: string; sender: string },
): string {
  const { group, name } = splitAddress(agent.address)
  const identity = roles.parse(agent.address) ?? { role: role ?? 'agent', name, ...(group ? { group } : {}) }
  return beaconText(
    beacon({
      recipient: recipientOf(identity, wordOf(roles)),
      sender,
      at: nowOf(parts),
      zone: parts.home.programs.zone(),
      topic,
      preset: roles.preset,
      isPrimed,
    }),
  )
}

export const wordOf = ({ preset }: Roles): 'rig' | 'group' => (preset === 'gastown' ? 'rig' : 'group')
