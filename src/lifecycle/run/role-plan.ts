import {
  type Agent,
  parseAddress,
  type Role,
  type RoleIdentity,
  type RoleNames,
  type Roles,
  SkeinError,
} from '../../model/index.js'
import type { StartAgent } from '../agents.js'

/** A start with what the agent's role says about it. */
export interface RolePlan {
  roles: Roles
  role?: Role
  /** Which agent of the role it is, where its address says so. */
  identity?: RoleIdentity
  names?: RoleNames
  /** As they were given; the role's name for the agent in place of one that was not. */
  options: StartAgent
}

/**
 * Which role an agent has, and what it is called there. An option that was given wins over the role; an address that belongs to another
 * role is refused. A role that is not configured is a word about the agent and changes nothing.
 */
export function planRole(roles: Roles, agents: readonly Agent[], options: StartAgent): RolePlan {
  if (roles.list.length === 0) return { roles, options }
  const { agent: given, group } = options
  const full = given !== undefined && (given.includes('/') || !group) ? given : undefined
  const known = agents.find(({ address }) => address === (full ?? (group ? `${group}/${given}` : given)))
  const claimed = full === undefined ? undefined : roles.parse(full.normalize('NFC'))
  const wanted = options.role ?? known?.role ?? claimed?.role
  const role = wanted === undefined ? undefined : roles.find(wanted)
  if (claimed && wanted !== undefined && claimed.role !== wanted) throw ofOtherRole(full ?? '', claimed.role, wanted)
  if (!role) return { roles, options }
  const roled = options.role === undefined ? { ...options, role: role.name } : options
  if (claimed) return { roles, role, identity: claimed, names: roles.format(claimed), options: roled }
  if (known || full?.includes('/')) return { roles, role, options: roled } // it has its own name
  const identity = identityFor(roles, role, options)
  if (!identity) return { roles, role, options: roled }
  const names = roles.format(identity)
  const { group: _group, ...rest } = roled
  return { roles, role, identity, names, options: { ...rest, agent: parseAddress(names.address) } }
}

/** From what was given, else from the directory. Undefined for a role that leaves naming to the directory, as agents without one do. */
function identityFor(
  roles: Roles,
  role: Role,
  { agent: name, group, cwd, here }: StartAgent,
): RoleIdentity | undefined {
  const isPlain = role.address === '{group}/{name}'
  if (isPlain && name === undefined) return undefined
  const needs = (what: 'name' | 'group'): boolean =>
    [role.address, role.session_name, role.mail_address].some((template) =>
      [what, ...(what === 'group' ? ['prefix'] : [])].some((one) => template.includes(`{${one}}`)),
    )
  const place = [cwd, here].flatMap((path) => (path === undefined ? [] : (roles.ofDirectory(path) ?? [])))
  const found = place.find((one) => one.role === role.name)
  const identity: RoleIdentity = { role: role.name }
  const ofGroup = group ?? (needs('group') ? found?.group : undefined)
  const ofName = name ?? (needs('name') ? found?.name : undefined)
  if (ofGroup !== undefined) identity.group = ofGroup
  if (ofName !== undefined) identity.name = ofName
  return identity
}

const ofOtherRole = (address: string, its: string, wanted: string): SkeinError =>
  new SkeinError(
    'bad-input',
    `${address} is the address of the role ${its}, not of ${wanted}`,
    'Leave out --role, or choose another address',
  )
