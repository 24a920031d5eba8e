import type { Agent, Roles } from '../../model/index.js'
import { checkSessionName } from '../../terminal/index.js'

const MAX_BYTES = 120

/** What an agent's tmux session is called: its address, so that people find it. tmux takes no dots there. */
export function tmuxName(agent: Agent): string {
  const name = agent.address.replaceAll('.', '_').replace(/^-/, '_')
  const isPlain = Buffer.byteLength(name) <= MAX_BYTES && !name.startsWith('_') && name === agent.address
  return isPlain ? name : tmuxNameWithId(agent)
}

/** When the address alone is taken, or would have to be changed, its id makes it its own. */
export function tmuxNameWithId(agent: Agent): string {
  const name = agent.address.replaceAll('.', '_').replace(/^[_-]+/, '')
  let short = name
  while (Buffer.byteLength(short) > MAX_BYTES) short = [...short].slice(0, -1).join('')
  return `${short || 'agent'}-${agent.id.slice(0, 8)}`
}

/** The name that its role gives it, where tmux takes that. */
export function roleSessionName(roles: Roles, agent: Agent): string {
  const identity = roles.parse(agent.address)
  const role = identity && roles.find(identity.role)
  if (!identity || !role || role.session_name === '{address}') return tmuxName(agent)
  try {
    return checkSessionName(roles.format(identity).session_name)
  } catch {
    return tmuxNameWithId(agent)
  }
}
