import {
  type Agent,
  type AgentAddress,
  caseless,
  type GroupPath,
  groupLineage,
  isWithin,
  joinAddress,
  lastSegment,
  nearest,
  parseAddress,
  type Roster,
  SkeinError,
  splitAddress,
} from '../model/index.js'

const LONGEST_NAME = 100
/** Control characters, line separators, and what changes the direction of the text that follows. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Whether roles name both an agent and a group by this path. */
export type IsShared = (path: string) => boolean

/** A group with agents goes only when they have somewhere to go, and every one of them fits there. */
export function refuseLosing(
  roster: Roster,
  group: GroupPath,
  inside: Agent[],
  target: GroupPath | undefined,
  isShared: IsShared,
): void {
  if (!target) {
    const count = `${inside.length} agent${inside.length === 1 ? '' : 's'}`
    throw new SkeinError(
      'group-not-empty',
      `Group ${group} has ${count}`,
      `Move them: skein group delete ${group} --move-to <group>`,
    )
  }
  if (isWithin(target, group))
    throw new SkeinError('bad-input', `${target} is inside the group to be deleted`, 'Choose a group outside of it')
  const taken = new Set<AgentAddress>()
  for (const agent of inside) {
    const address = parseAddress(joinAddress(target, splitAddress(agent.address).name))
    if (taken.has(address)) throw agentExists(address)
    refuseTaken(roster, address, isShared)
    taken.add(address)
  }
}

/** A path names one thing: an agent or a group, unless roles name both so. */
export function refuseTaken(roster: Roster, address: AgentAddress, isShared: IsShared): void {
  if (roster.at(address)) throw agentExists(address)
  const group_path = address as string as GroupPath
  if (roster.groups.has(group_path) && !isShared(address)) throw groupExists(group_path)
  const { group } = splitAddress(address)
  if (!group) return
  refuseAgents(roster, group, isShared)
  refuseTwins(roster, group)
}

export function refuseAgents(roster: Roster, group: GroupPath, isShared: IsShared): void {
  for (const path of groupLineage(group)) {
    if (!roster.groups.has(path) && roster.at(path as string as AgentAddress) && !isShared(path))
      throw agentExists(path as string as AgentAddress)
  }
}

/** Nobody can tell two groups apart that differ only in case. `leaving` is the group that is about to be renamed. */
export function refuseTwins(roster: Roster, group: GroupPath, leaving?: GroupPath): void {
  const made = groupLineage(group).filter((path) => !roster.groups.has(path))
  if (made.length === 0) return
  const others = [...roster.groups.keys()].filter((path) => !(leaving && isWithin(path, leaving)))
  const byCaseless = new Map(others.map((path) => [caseless(path), path]))
  for (const path of made) {
    const twin = byCaseless.get(caseless(path))
    if (twin === undefined) continue
    throw new SkeinError('group-exists', `${path} differs from the group ${twin} only in case`, `Use ${twin}`)
  }
}

/** A display name; the last part of the path for an empty one. */
export function groupName(path: GroupPath, given: string): string {
  const name = given.normalize('NFC').trim()
  if (UNPRINTABLE.test(name))
    throw new SkeinError('bad-input', 'The name of a group has a control character', 'Use printable characters')
  if (name.length > LONGEST_NAME)
    throw new SkeinError(
      'bad-input',
      `The name of a group has ${name.length} characters`,
      `Use at most ${LONGEST_NAME}`,
    )
  return name === '' ? lastSegment(path) : name
}

export const agentExists = (address: AgentAddress): SkeinError =>
  new SkeinError('agent-exists', `There is already an agent ${address}`, 'Choose another name or group')

export const groupExists = (path: GroupPath): SkeinError =>
  new SkeinError('group-exists', `There is already a group ${path}`, 'Choose another path')

export function groupNotFound(roster: Roster, path: GroupPath): SkeinError {
  if (roster.at(path as string as AgentAddress))
    return new SkeinError('group-not-found', `${path} is an agent, not a group`, 'Try: skein group list')
  const meant = nearest(path, [...roster.groups.keys()])
  return new SkeinError(
    'group-not-found',
    `No group ${path}`,
    meant ? `Did you mean ${meant} ?` : 'Try: skein group list',
  )
}
