import type { Home } from '../../home/index.js'
import { type AgentAddress, type Group, type GroupPath, isWithin, nearest, SkeinError } from '../../model/index.js'

/** The group of an agent that is parked, or one around it. */
export function parkedAround(groups: readonly Group[], address: AgentAddress): Group | undefined {
  return groups.find(({ path, parked }) => parked !== undefined && isWithin(address, path))
}

/** Nothing starts in a parked group. `also` is what to type after that, or in place of it. */
export async function refuseParked(home: Home, address: AgentAddress, also = ''): Promise<void> {
  const group = parkedAround(await home.roster.groups(), address)
  if (group) throw parked(group, also)
}

export function parked({ path, parked: how }: Group, also = ''): SkeinError {
  const why = how?.reason === undefined ? '' : `: ${how.reason}`
  const by = how ? ` by ${how.by}` : ''
  return new SkeinError(
    'group-parked',
    `Group ${path} was parked${by}${why}`,
    `To start agents in it: skein group unpark ${path}${also}`,
  )
}

export interface Admission {
  /** How many agents may run in it at once. */
  limit: number | undefined
  running: number
  /** Bytes that must be free. */
  leastFree: number
  /** Bytes that programs could still have. */
  free: number
}

/** Whether one more agent may start; the first reason against it is thrown. */
export function refuseMore(group: GroupPath, { limit, running, leastFree, free }: Admission): void {
  if (limit !== undefined && running >= limit) {
    throw new SkeinError(
      'group-full',
      `${running} agents run in ${group}, and at most ${limit} may`,
      `Wait until one is done, or raise max_running of [groups."${group}"] in config.toml`,
    )
  }
  if (free < leastFree) {
    throw new SkeinError(
      'machine-full',
      `This machine has ${megabytes(free)} of memory left, and ${megabytes(leastFree)} must stay free`,
      'Stop an agent first, or set [work] min_free_memory in config.toml',
    )
  }
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`

export function groupNamed(groups: readonly Group[], path: GroupPath): Group {
  const found = groups.find((group) => group.path === path)
  if (found) return found
  const meant = nearest(
    path,
    groups.map((group) => group.path),
  )
  const next = meant ? `Did you mean ${meant} ?` : `Create it: skein group create ${path}`
  throw new SkeinError('group-not-found', `No group ${path}`, next)
}
